/**
 * The sockets on which php-fpm accepts connections. This process makes them, and php-fpm inherits them. So they have no name in the
 * sandbox: no script connects to them, or replaces one by a link to another site's. And nothing in a sandbox has to listen.
 */
import { once } from "node:events";
import { renameSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { createServer, type Server } from "node:net";

export class FpmSockets {
  /** To inherit, in the order of the paths. */
  readonly descriptors: readonly number[];
  readonly #servers: ReadonlyMap<string, Server>;

  private constructor(servers: ReadonlyMap<string, Server>) {
    this.#servers = servers;
    this.descriptors = [...servers.values()].map(descriptorOf);
  }

  /** `files`: paths that don't exist, in a folder that is closed to other users. */
  static async open(files: readonly string[]): Promise<FpmSockets> {
    const servers = new Map<string, Server>();
    for (const file of files) {
      const server = createServer().listen(file);
      servers.set(file, server);
      await once(server, "listening");
      await chmod(file, 0o600);
    }
    return new FpmSockets(servers);
  }

  /** Leaves the sockets to the program that has inherited them. No one may have connected before. */
  release(): void {
    for (const [file, server] of this.#servers) {
      // Node removes the file that it has made.
      renameSync(file, `${file}.inherited`);
      server.close();
      renameSync(`${file}.inherited`, file);
    }
  }
}

/**
 * Makes the socket wait for connections, as php-fpm's children expect: they end if it doesn't. Node has no documented way to do that,
 * and to the descriptor.
 */
function descriptorOf(server: Server): number {
  const handle: unknown = Reflect.get(server, "_handle");
  if (typeof handle === "object" && handle !== null && "fd" in handle && "setBlocking" in handle) {
    const { fd, setBlocking } = handle;
    if (typeof fd === "number" && typeof setBlocking === "function" && setBlocking.call(handle, true) === 0) return fd;
  }
  throw new Error("This version of Node can't give a socket to php-fpm.");
}
