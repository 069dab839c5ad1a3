"""The driver `typed_data`: rows of signed envelopes."""
