//! The service, with hyper on tokio.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        // What ends one connection is of no concern to the others.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)));
    }
}

async fn answer(request: Request<Incoming>) -> anyhow::Result<Response<Full<Bytes>>> {
    let order = request.into_body().collect().await?.to_bytes();
    let json = orders::answer(&order)?;
    Ok(Response::builder().header(CONTENT_TYPE, "application/json").body(Full::from(json))?)
}
