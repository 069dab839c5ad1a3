/** Wallets (PKPs): made by the node, listed by account or by group. */

import { requireFlag } from "./access.js";
import { nothing, object, u64 } from "./fields.js";
import { pageFields, pageOf } from "./pages.js";
import { keyed, type Route } from "./routes.js";
import { EVERYTHING, type Pkp } from "./state.js";

export const addressOf = (pkp: Pkp): string => pkp.wallet.address.toLowerCase();

const listed = (pkp: Pkp): object => ({ pkp: pkp.id, address: addressOf(pkp), path: pkp.path, title: "", summary: "" });

export const walletRoutes: readonly Route[] = [
  keyed({
    method: "POST",
    path: "/mint_wallet",
    access: "key",
    status: 201,
    charged: "write",
    reads: nothing,
    handle({ node, caller }) {
      requireFlag(caller, "can_create_pkps");
      const pkp = node.mint();
      caller.account.pkps.set(pkp.id, pkp);
      return { wallet_address: addressOf(pkp) };
    },
  }),
  keyed({
    method: "GET",
    path: "/list_wallets",
    access: "key",
    status: 200,
    reads: object(pageFields),
    handle: ({ caller, fields }) => pageOf([...caller.account.pkps.values()].map(listed), fields),
  }),
  keyed({
    method: "GET",
    path: "/list_wallets_in_group",
    access: "key",
    status: 200,
    reads: object({ group_id: u64, ...pageFields }),
    handle({ caller, fields }) {
      const { groups, pkps } = caller.account;
      const permitted = groups.get(fields.group_id)?.pkps ?? new Set();
      const inGroup = [...pkps.values()].filter(({ id }) => permitted.has(EVERYTHING) || permitted.has(id));
      return pageOf(inGroup.map(listed), fields);
    },
  }),
];
