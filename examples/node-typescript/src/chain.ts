/** Chain and payer information. The node settles on no chain: the values are constants that name none. */

import { nothing } from "./fields.js";
import { open, type Route } from "./routes.js";

/** Read by the wallet-signed flows as `domain.chainId`. */
export const CHAIN_ID = "88100";
const CONTRACT = "0x000000000000000000000000000000000000c0de";
const PAYER = "0x00000000000000000000000000000000000face1";
const ADMIN_PAYER = "0x00000000000000000000000000000000000face2";

const information = (path: string, answer: object): Route =>
  open({ method: "GET", path, access: "open", status: 200, reads: nothing, handle: () => answer });

export const chainRoutes: readonly Route[] = [
  information("/get_node_chain_config", { chain: "none", chain_id: CHAIN_ID, contract_address: CONTRACT }),
  information("/get_api_payers", { payers: [PAYER] }),
  information("/get_admin_api_payer", { payer: ADMIN_PAYER }),
];
