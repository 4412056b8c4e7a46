//! The service, with axum on tokio, which calls serde_json itself.

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        // A connection that is lost already has no use for it.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().route("/orders", post(answer))).await?;
    Ok(())
}

async fn answer(order: Bytes) -> Result<impl IntoResponse, (StatusCode, String)> {
    let json = orders::answer(&order).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
    Ok(([(CONTENT_TYPE, "application/json")], json))
}
