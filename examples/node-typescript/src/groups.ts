/** Groups: what they permit, and the moves of actions and wallets into and out of them. */

import { holds, requireAccountKey, requireFlag, requireInGroup } from "./access.js";
import { hashedCid, rawCid } from "./cids.js";
import { bytes32, labelOrEmpty, listOf, object, u64, type Reader } from "./fields.js";
import { pageFields, slice } from "./pages.js";
import { forbidden, invalid, unknown } from "./problems.js";
import { keyed, type Route } from "./routes.js";
import { EVERYTHING, GROUP_LISTS, type Account, type Caller, type Group, type Node } from "./state.js";

/** A hashed CID, or `0` in its three spellings: the wildcard for all actions. */
const hashOrZero: Reader<string> = {
  schema: { type: ["string", "integer"] },
  optional: false,
  read: (value, field) => (value === 0 || value === "0" ? EVERYTHING : bytes32.read(value, field)),
};

const permitted = { pkp_ids_permitted: listOf(bytes32), cid_hashes_permitted: listOf(hashOrZero) };

/** A wallet by its id. The wildcard is none: it comes and goes by the list of the group alone. */
const wallet: Reader<string> = {
  ...bytes32,
  read(value, field) {
    const id = bytes32.read(value, field);
    if (id === EVERYTHING) throw invalid(field, "the id of one wallet");
    return id;
  },
};

function groupOf(account: Account, id: string): Group {
  const group = account.groups.get(id);
  if (group === undefined) throw unknown("group");
  return group;
}

function requireOwnPkps(account: Account, ids: readonly string[]): void {
  if (ids.some((id) => id !== EVERYTHING && !account.pkps.has(id))) {
    throw invalid("PKP id", "a wallet of this account");
  }
}

/** Remove a group, and its id from every usage key that names it. */
function removeGroup(account: Account, group: Group): void {
  account.groups.delete(group.id);
  for (const key of account.usageKeys.values()) {
    const lists = GROUP_LISTS.map((list) => [list, key.permissions[list].filter((id) => id !== group.id)]);
    key.permissions = { ...key.permissions, ...Object.fromEntries(lists) };
  }
}

/** The check of `remove_pkp_from_groups`, with its two faults. */
function requireRemoval(node: Node, caller: Caller, group: string): void {
  if (node.fault === "add-permission-removes" && holds(caller, "add_pkp_to_groups", group)) return;
  if (node.fault === "wildcard-ignored-for-removal" && caller.usageKey !== null) {
    if (!caller.usageKey.permissions.remove_pkp_from_groups.includes(group)) throw forbidden("The key lacks this group");
  }
  requireInGroup(caller, "remove_pkp_from_groups", group);
}

export const groupRoutes: readonly Route[] = [
  keyed({
    method: "POST",
    path: "/add_group",
    access: "key",
    status: 204,
    charged: "write",
    reads: object({ title: labelOrEmpty, summary: labelOrEmpty, ...permitted }),
    handle({ node, caller, fields }) {
      requireFlag(caller, "can_create_groups");
      requireOwnPkps(caller.account, fields.pkp_ids_permitted);
      const id = node.nextGroupId();
      caller.account.groups.set(id, {
        id,
        name: fields.title,
        description: fields.summary,
        pkps: new Set(fields.pkp_ids_permitted),
        actions: new Set(fields.cid_hashes_permitted),
      });
    },
  }),
  keyed({
    method: "POST",
    path: "/update_group",
    access: "key",
    status: 204,
    charged: "write",
    reads: object({ group_id: u64, name: labelOrEmpty, description: labelOrEmpty, ...permitted }),
    handle({ caller, fields }) {
      requireAccountKey(caller);
      const group = groupOf(caller.account, fields.group_id);
      requireOwnPkps(caller.account, fields.pkp_ids_permitted);
      group.name = fields.name;
      group.description = fields.description;
      group.pkps = new Set(fields.pkp_ids_permitted);
      group.actions = new Set(fields.cid_hashes_permitted);
    },
  }),
  keyed({
    method: "POST",
    path: "/remove_group",
    access: "key",
    status: 204,
    charged: "write",
    reads: object({ group_id: u64 }),
    handle({ node, caller, fields }) {
      requireFlag(caller, "can_delete_groups");
      const group = caller.account.groups.get(fields.group_id);
      if (group === undefined) return;
      if (node.fault === "removed-group-runs") {
        caller.account.groups.delete(group.id);
        caller.account.removedGroups.push(group);
      } else removeGroup(caller.account, group);
    },
  }),
  keyed({
    method: "GET",
    path: "/list_groups",
    access: "key",
    status: 200,
    reads: object(pageFields),
    handle: ({ caller, fields }) =>
      slice(caller.account.groups.values(), fields).map((group) => ({
        id: group.id,
        title: group.name,
        summary: group.description,
        permits: { wallets: [...group.pkps], actions: [...group.actions] },
      })),
  }),
  keyed({
    method: "PUT",
    path: "/groups/actions",
    access: "key",
    status: 204,
    charged: "write",
    reads: object({ group_id: u64, action_ipfs_cid: rawCid }),
    handle({ caller, fields }) {
      requireInGroup(caller, "manage_ipfs_ids_in_groups", fields.group_id);
      groupOf(caller.account, fields.group_id).actions.add(hashedCid(fields.action_ipfs_cid));
    },
  }),
  keyed({
    method: "POST",
    path: "/remove_action_from_group",
    access: "key",
    status: 204,
    charged: "write",
    reads: object({ group_id: u64, hashed_cid: bytes32 }),
    handle({ caller, fields }) {
      requireInGroup(caller, "manage_ipfs_ids_in_groups", fields.group_id);
      groupOf(caller.account, fields.group_id).actions.delete(fields.hashed_cid);
    },
  }),
  keyed({
    method: "PUT",
    path: "/groups/wallets",
    access: "key",
    status: 204,
    charged: "write",
    reads: object({ group_id: u64, pkp_id: wallet }),
    handle({ caller, fields }) {
      requireInGroup(caller, "add_pkp_to_groups", fields.group_id);
      const group = groupOf(caller.account, fields.group_id);
      requireOwnPkps(caller.account, [fields.pkp_id]);
      group.pkps.add(fields.pkp_id);
    },
  }),
  keyed({
    method: "POST",
    path: "/remove_pkp_from_group",
    access: "key",
    status: 204,
    charged: "write",
    reads: object({ group_id: u64, pkp_id: wallet }),
    handle({ node, caller, fields }) {
      requireRemoval(node, caller, fields.group_id);
      groupOf(caller.account, fields.group_id).pkps.delete(fields.pkp_id);
    },
  }),
];
