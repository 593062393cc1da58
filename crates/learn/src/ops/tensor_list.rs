//! Several tensors as one argument of an operation, where their number is not known to the compiler.

use burn::backend::tensor::FloatTensor;
use burn::backend::{
    Backend, BackendTensor, Dispatch, DispatchAutodiffContext, DispatchTensor, DispatchTensorKind, ExtensionType,
};

/// Tensors of a backend, in order.
#[derive(Debug)]
pub struct TensorList<B: Backend>(pub Vec<FloatTensor<B>>);

/// burn derives this for structs with a field for each tensor; a list goes through tensor by tensor.
impl<B: Backend> ExtensionType<B> for TensorList<B> {
    type Target = TensorList<Dispatch>;

    fn map_to_dispatch<F>(self, map_kind: F, autodiff: DispatchAutodiffContext) -> TensorList<Dispatch>
    where
        F: Fn(BackendTensor<B>) -> DispatchTensorKind,
    {
        let wrapped = self.0.into_iter().map(|tensor| map_kind(BackendTensor::Float(tensor)));
        TensorList(wrapped.map(|kind| DispatchTensor { kind, autodiff }).collect())
    }

    fn map_from_dispatch<F>(target: TensorList<Dispatch>, unwrap_kind: F) -> Self
    where
        F: Fn(DispatchTensor) -> BackendTensor<B>,
    {
        TensorList(target.0.into_iter().map(|tensor| unwrap_kind(tensor).float()).collect())
    }

    fn routing_tensor(target: &TensorList<Dispatch>) -> Option<&DispatchTensor> {
        target.0.first()
    }

    fn routing_float_tensor(target: &TensorList<Dispatch>) -> Option<&DispatchTensor> {
        target.0.first()
    }

    fn autodiff_context(target: &TensorList<Dispatch>) -> DispatchAutodiffContext {
        let contexts = target.0.iter().map(|tensor| tensor.autodiff);
        contexts.fold(DispatchAutodiffContext::Disabled, DispatchAutodiffContext::merge)
    }
}
