//! Errors as OpenAI clients read them, and the wording of every error that is not about one field of a request. Errors about a field
//! ([`BadRequest`](crate::model::BadRequest)) are worded where the field is read.

mod api_error;
mod model_errors;
mod request_errors;
mod stored_errors;

pub use api_error::{ApiError, ErrorType};
