"""The driver `attestation`: judges one rule of the verifier for each case ("Endpoints / Attestation")."""
