/** Moves a PHP process into its environment: working directory and user. */
import { closeSync, existsSync, openSync } from "node:fs";
import path from "node:path";
import type { AssignOrder, Owner } from "./messages.ts";

/** Returns a path to the folder that needs no permission on the folders above it while this process lives. */
export function descriptorPath(folder: string): string {
  const descriptor = openSync(folder, "r");
  const link = `/proc/self/fd/${descriptor}`;
  if (existsSync(link)) return link;
  closeSync(descriptor);
  return folder;
}

/** Like `descriptorPath`, but returns a path that is a folder and not a link to one. */
export function reachableFolder(folder: string): string {
  return `${descriptorPath(path.dirname(folder))}/${path.basename(folder)}`;
}

/**
 * Changes to the environment's user. The environment, the shared code and the edge's socket are below folders that only
 * root can read; the working directory and open descriptors still reach them.
 */
function becomeOwner(order: AssignOrder, { id, phpGroup }: Owner): AssignOrder {
  const { shared } = order.folders;
  const { edgeSocket } = order.network;
  const runFolder = path.dirname(edgeSocket);
  // Without this folder there is no edge to connect to.
  const run = existsSync(runFolder) ? descriptorPath(runFolder) : runFolder;
  const reachable =
    shared === null ? null : { core: descriptorPath(shared.core), driver: reachableFolder(shared.driver) };
  process.setgroups?.([phpGroup]);
  process.setgid?.(id);
  process.setuid?.(id);
  return {
    ...order,
    folders: { ...order.folders, shared: reachable },
    network: { ...order.network, edgeSocket: `${run}/${path.basename(edgeSocket)}` },
  };
}

/** Call before accessing a file of the environment. Returns the order with paths that stay valid. */
export function enterEnvironment(order: AssignOrder): AssignOrder {
  process.chdir(order.environment);
  return order.owner === null ? order : becomeOwner(order, order.owner);
}
