/** The used part of Emscripten's sockets. */

/** A socket's connection, which Emscripten uses like a WebSocket. */
export interface Connection {
  readonly readyState: number;
  /** The state from which on nothing can be sent. */
  readonly CLOSING: number;
  /** What the other end has not received yet. */
  readonly unsentBytes: number;
  /** The number of the last `select` whose caller wanted to write. */
  selectedForWriting: number;
  /** Receives more if PHP has read most of what it got. Call whenever PHP waits. */
  resume(): void;
}

interface Peer {
  readonly socket: Connection;
  /** What PHP has sent before the connection was open. */
  readonly msg_send_queue: readonly { readonly byteLength: number }[];
}

export interface PhpSocket {
  /** What PHP has not read yet. */
  readonly recv_queue: readonly { readonly data: Uint8Array }[];
  readonly peers: Readonly<Record<string, Peer>>;
  readonly sock_ops: SocketOperations;
}

/** The functions that all sockets share. */
export interface SocketOperations {
  poll(sock: PhpSocket): number;
  sendmsg(sock: PhpSocket, ...message: readonly unknown[]): number;
}
