// Answers the attestation vectors' protocol with @phala/dcap-qvl (npm): docs/attestation-vectors.md describes it.

import { X509Certificate } from "node:crypto";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { QuoteVerifier } = require("@phala/dcap-qvl");
const { version } = require("@phala/dcap-qvl/package.json");

function verdict({ quote, collateral, root, at }) {
  try {
    const verifier = QuoteVerifier.newWithRootCa(new X509Certificate(root).raw);
    const report = verifier.verify(Buffer.from(quote, "hex"), JSON.parse(collateral), at);
    return [report.status === "UpToDate" ? "accepted" : "refused", report.status];
  } catch (fault) {
    return ["refused", String(fault.cause ?? fault.message)];
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.command === "start") {
    console.log(JSON.stringify({ protocol: 1, implementation: `@phala/dcap-qvl ${version}`, kinds: ["quote"] }));
  } else {
    const [result, detail] = verdict(request);
    console.log(JSON.stringify({ id: request.id, result, detail }));
  }
}
