/**
 * Listening sockets that a parent process has opened, passed as systemd does (`sd_listen_fds(3)`): by systemd to the supervisor, and by
 * the supervisor to its children. They outlive this process, so connections wait for the next one and are not refused.
 */

/** `http` and `https` are for visitors. systemd may use other names: its sockets are known by their ports. */
export type SocketName = "http" | "https" | "api" | "dns-tcp" | "dns-udp";

export interface InheritedSocket {
  readonly name: string;
  /** The file descriptor. */
  readonly descriptor: number;
}

/** The first is always this one. */
const firstDescriptor = 3;

/** The variables that announce sockets, without `LISTEN_PID`. Descriptors must follow each other from the first one on. */
export function announceSockets(sockets: readonly InheritedSocket[]): NodeJS.ProcessEnv {
  if (sockets.length === 0) return {};
  return { LISTEN_FDS: String(sockets.length), LISTEN_FDNAMES: sockets.map(({ name }) => name).join(":") };
}

/**
 * Returns the sockets that are meant for this process, and removes their variables from `env`, so that no child process takes the
 * sockets for its own.
 */
export function takeInheritedSockets(env: NodeJS.ProcessEnv): readonly InheritedSocket[] {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES } = env;
  for (const variable of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) delete env[variable];
  if (LISTEN_PID !== String(process.pid)) return [];
  const names = (LISTEN_FDNAMES ?? "").split(":");
  return Array.from({ length: Number(LISTEN_FDS ?? 0) }, (_, index) => ({
    name: names[index] ?? "",
    descriptor: firstDescriptor + index,
  }));
}

/** Returns the descriptors of the sockets with this name, or undefined if there is none. */
export function descriptorsOf(sockets: readonly InheritedSocket[], name: SocketName): readonly number[] | undefined {
  const found = sockets.filter((socket) => socket.name === name).map(({ descriptor }) => descriptor);
  return found.length === 0 ? undefined : found;
}
