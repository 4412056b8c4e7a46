//! One operation: one request, an order as JSON over HTTP/1.1, answered by a tokio task with the HTTP library hyper.

use std::convert::Infallible;
use std::net::TcpListener;
use std::process::ExitCode;

use anyhow::Result;
use bytes::{Bytes, BytesMut};
use does_it_matter::accepting::accept_on_tokio;
use does_it_matter::http::{self, Refusal};
use does_it_matter::parameters::OnTokio;
use does_it_matter::pieces::Answer;
use does_it_matter::serving::{self, Answered, Shared};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

fn serve_tokio(listener: TcpListener, own: OnTokio, shared: Shared) -> Result<()> {
    listener.set_nonblocking(true)?;
    own.runtime.start(shared.placement)?.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let stream = accept_on_tokio(&listener).await?;
            let (answered, tls) = (shared.answered.clone(), shared.tls.clone());
            // What ends one connection, an error too, is of no concern to the others.
            tokio::spawn(async move {
                stream.set_nodelay(true)?;
                match tls {
                    None => converse(stream, answered).await,
                    Some(config) => converse(TlsAcceptor::from(config).accept(stream).await?, answered).await,
                }
            });
        }
    })
}

async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin, answered: Answered) -> Result<()> {
    let service = service_fn(|request| async { Ok::<_, Infallible>(answer(request, &answered).await) });
    let mut http = http1::Builder::new();
    // The other servers send no date either. Nor do they look, while they answer, whether the client is gone: hyper would take a second
    // buffer for that, which is as large a piece of memory as the answer.
    http.auto_date_header(false).half_close(true);
    Ok(http.serve_connection(TokioIo::new(stream), service).await?)
}

async fn answer(request: Request<Incoming>, answered: &Answered) -> Response<Full<Answer>> {
    let (Parts { mut headers, .. }, body) = request.into_parts();
    let total = total(&headers, body).await;
    let mut response = Response::new(Full::default());
    // The request's map of headers becomes the answer's: hyper has the memory of that for the next request.
    headers.clear();
    match total {
        Ok(order) => {
            answered.one();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            *response.body_mut() = Full::new(order);
        }
        Err(refusal) => {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
            *response.status_mut() = StatusCode::from_u16(refusal.status().0).expect("it is one of HTTP's");
        }
    }
    *response.headers_mut() = headers;
    response
}

async fn total(headers: &HeaderMap, body: Incoming) -> Result<Answer, Refusal> {
    let length = http::body_length(headers.get(CONTENT_LENGTH).map(|value| value.as_bytes()))?;
    let order = whole(Limited::new(body, length), length).await.ok_or(Refusal::Malformed)?;
    let mut answer = Answer::empty();
    http::handle(&order, answer.json())?;
    Ok(answer)
}

/// A body. One that came in one piece stays where it lies.
async fn whole(mut body: Limited<Incoming>, length: usize) -> Option<Bytes> {
    let mut pieces = BytesMut::new();
    while pieces.len() < length {
        match body.frame().await?.ok()?.into_data() {
            Ok(piece) if piece.len() == length => return Some(piece),
            Ok(piece) => pieces.extend_from_slice(&piece),
            Err(_) => return None,
        }
    }
    Some(pieces.freeze())
}

fn main() -> ExitCode {
    serving::main(harness::name!(), serve_tokio)
}
