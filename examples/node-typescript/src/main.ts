/** Start the node: `node dist/main.js --port 8088 [--fault NAME]`. Port 0 takes any free one. */

import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { FAULTS, faultNamed } from "./faults.js";
import { listen } from "./http.js";
import { Node } from "./state.js";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "8088" },
    fault: { type: "string" },
    faults: { type: "boolean", default: false },
  },
});
const port = Number(values.port);
const fault = values.fault === undefined ? undefined : faultNamed(values.fault);

if (values.faults) {
  for (const [name, meaning] of Object.entries(FAULTS)) console.log(`${name}: ${meaning}`);
} else if (values.fault !== undefined && fault === undefined) {
  console.error(`There is no fault ${values.fault}; --faults lists them`);
  process.exitCode = 2;
} else {
  // By exit(), so that the processes of running actions are ended, too.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());
  const server = listen(new Node(fault), port);
  server.on("listening", () => {
    console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
}
