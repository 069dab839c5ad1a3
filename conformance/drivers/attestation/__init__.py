"""The driver `attestation`: one rule of the verifier a case, held to the text alone ("Endpoints / Attestation")."""
