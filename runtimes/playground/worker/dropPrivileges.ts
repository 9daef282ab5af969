/** A process of PHP becomes its environment's: its working directory, and its user. */
import { chmodSync, closeSync, existsSync, openSync } from "node:fs";
import path from "node:path";
import type { AssignOrder } from "./messages.ts";

/** A path to the folder that needs no permission on the folders above it, as long as this process lives. */
export function descriptorPath(folder: string): string {
  const descriptor = openSync(folder, "r");
  const reached = `/proc/self/fd/${descriptor}`;
  if (existsSync(reached)) return reached;
  closeSync(descriptor);
  return folder;
}

/**
 * Becomes the environment's user. The environment, the shared code and the edge's socket lie below folders
 * that only root may read: the working directory and open descriptors lead past them.
 */
function becomeOwner(order: AssignOrder, owner: number): AssignOrder {
  const core = order.folders.core === null ? null : descriptorPath(order.folders.core);
  const { edgeSocket } = order.network;
  const runFolder = path.dirname(edgeSocket);
  // Where there is none there is no edge either, and nothing to connect to.
  const run = existsSync(runFolder) ? descriptorPath(runFolder) : runFolder;
  // Users who may open the folder may connect; others don't see the socket.
  if (existsSync(edgeSocket)) chmodSync(edgeSocket, 0o666);
  process.setgroups?.([]);
  process.setgid?.(owner);
  process.setuid?.(owner);
  return {
    ...order,
    folders: { ...order.folders, core },
    network: { ...order.network, edgeSocket: `${run}/${path.basename(edgeSocket)}` },
  };
}

/** To be called before a file of the environment is touched. Returns the order as this process can follow it from then on. */
export function enterEnvironment(order: AssignOrder): AssignOrder {
  process.chdir(order.environment);
  return order.owner === null ? order : becomeOwner(order, order.owner);
}
