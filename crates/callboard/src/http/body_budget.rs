//! The memory that the bodies of all requests may take together, from their first byte until their reply is made.

use std::sync::Arc;

use callboard_core::wire::ApiError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The budget; clones share it. A permit is one byte.
#[derive(Clone)]
pub(super) struct BodyBudget {
    free: Arc<Semaphore>,
    most: usize,
}

/// Bytes of a body, taken from the budget until they are dropped.
pub(super) struct BodyBytes {
    budget: BodyBudget,
    permit: Option<OwnedSemaphorePermit>,
}

/// The budget is used up.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the bodies of all requests are larger than the limit limits.bodies_bytes of {most} bytes")]
pub(super) struct BudgetExceeded {
    pub(super) most: usize,
}

impl From<BudgetExceeded> for ApiError {
    fn from(BudgetExceeded { most }: BudgetExceeded) -> Self {
        Self::too_many_body_bytes(most)
    }
}

impl BodyBudget {
    /// What is free of so many bytes.
    pub(super) fn new(free: Arc<Semaphore>, most: usize) -> Self {
        Self { free, most }
    }

    /// No bytes yet.
    pub(super) fn start(&self) -> BodyBytes {
        BodyBytes { budget: self.clone(), permit: None }
    }
}

impl BodyBytes {
    /// Takes more.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        let exceeded = BudgetExceeded { most: self.budget.most };
        let bytes = u32::try_from(bytes).map_err(|_| exceeded)?;
        let more = Arc::clone(&self.budget.free).try_acquire_many_owned(bytes).map_err(|_| exceeded)?;
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        Ok(())
    }

    /// Gives some back.
    pub(super) fn shrink(&mut self, bytes: usize) {
        drop(self.permit.as_mut().and_then(|permit| permit.split(bytes.min(permit.num_permits()))));
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }

    /// All of them; none are left here.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, self.budget.start())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_taken_and_given_back() {
        let budget = BodyBudget::new(Arc::new(Semaphore::new(10)), 10);
        let (mut one, mut two) = (budget.start(), budget.start());
        one.grow(6).unwrap();
        assert_eq!(two.grow(5).unwrap_err().most, 10);
        one.shrink(1);
        two.grow(5).unwrap();
        assert_eq!((one.count(), two.count()), (5, 5));
        let taken = one.take();
        assert_eq!((one.count(), taken.count()), (0, 5));
        drop(taken);
        one.grow(5).unwrap();
        one.shrink(100);
        assert_eq!(one.count(), 0);
    }
}
