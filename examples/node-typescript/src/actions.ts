/** Actions of an account: those registered by name and those that its groups list. */

import { requireInGroup } from "./access.js";
import { cidOf, hashedCid, rawCid } from "./cids.js";
import { bytes32, code, label, object, optional, u64 } from "./fields.js";
import { pageFields, pageOf } from "./pages.js";
import { unknown } from "./problems.js";
import { keyed, open, type Route } from "./routes.js";
import { ALL_GROUPS, type Action } from "./state.js";

/** An action that was never registered has no title and no summary. */
function listed(hash: string, action: Action | undefined): object {
  return { hashed_cid: hash, ...(action && { title: action.name, summary: action.description }) };
}

export const actionRoutes: readonly Route[] = [
  keyed({
    method: "GET",
    path: "/list_actions",
    access: "key",
    status: 200,
    reads: object({ group_id: optional(u64, null), ...pageFields }),
    handle({ caller: { account }, fields }) {
      const { group_id: id } = fields;
      const listing = (hash: string) => id === null || account.groups.get(id)?.actions.has(hash);
      const hashes = [...account.knownActions].filter(listing);
      return pageOf(
        hashes.map((hash) => listed(hash, account.actions.get(hash))),
        fields,
      );
    },
  }),
  keyed({
    method: "POST",
    path: "/add_action",
    access: "key",
    status: 204,
    charged: "write",
    reads: object({ action_ipfs_cid: rawCid, name: label, description: label }),
    handle({ caller, fields }) {
      requireInGroup(caller, "manage_ipfs_ids_in_groups", ALL_GROUPS);
      const { name, description } = fields;
      caller.account.actions.set(hashedCid(fields.action_ipfs_cid), { name, description });
    },
  }),
  keyed({
    method: "POST",
    path: "/delete_action",
    access: "key",
    status: 204,
    charged: "write",
    reads: object({ hashed_cid: bytes32 }),
    handle({ caller, fields }) {
      requireInGroup(caller, "manage_ipfs_ids_in_groups", ALL_GROUPS);
      caller.account.actions.delete(fields.hashed_cid);
      for (const group of caller.account.groups.values()) group.actions.delete(fields.hashed_cid);
    },
  }),
  keyed({
    method: "POST",
    path: "/update_action_metadata",
    access: "key",
    status: 204,
    charged: "write",
    reads: object({ hashed_cid: bytes32, name: label, description: label }),
    handle({ caller, fields }) {
      requireInGroup(caller, "manage_ipfs_ids_in_groups", ALL_GROUPS);
      if (!caller.account.knownActions.has(fields.hashed_cid)) throw unknown("action");
      caller.account.actions.set(fields.hashed_cid, { name: fields.name, description: fields.description });
    },
  }),
  open({
    method: "POST",
    path: "/get_harbour_action_ipfs_id",
    access: "open",
    status: 200,
    reads: code,
    handle: ({ fields }) => ({ cid: cidOf(fields) }),
  }),
];
