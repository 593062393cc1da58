//! The mean of what is defined.

/// The mean of the numbers among `outcomes`; where there are none, the first reason why. At least one outcome.
pub fn mean_of_defined(outcomes: &[Result<f64, String>]) -> Result<f64, String> {
    let numbers: Vec<f64> = outcomes.iter().flatten().copied().collect();
    match outcomes.iter().find_map(|outcome| outcome.as_ref().err()) {
        Some(reason) if numbers.is_empty() => Err(reason.clone()),
        _ => Ok(numbers.iter().sum::<f64>() / numbers.len() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_count_only_where_there_is_no_number() {
        let reason = |text: &str| Err(text.to_string());
        assert_eq!(mean_of_defined(&[Ok(1.0), reason("a"), Ok(2.0)]), Ok(1.5));
        assert_eq!(mean_of_defined(&[reason("a"), reason("b")]), reason("a"));
    }
}
