/**
 * What PostgreSQL announces at a commit (`pg_notify`), heard on one connection that is kept up. Announcements
 * made while it was down are lost, which `onGap` tells: listeners then look at the rows.
 */
import pg from "pg";

export interface Notifications {
  /** Calls `listener` with the payload of each announcement. Returns what ends the subscription. */
  on(channel: string, listener: (payload: string) => void): () => void;
  /** Calls `listener` after each reconnection. Returns a function that ends the subscription. */
  onGap(listener: () => void): () => void;
  close(): Promise<void>;
}

export interface NotificationOptions {
  readonly url: string;
  readonly channels: readonly string[];
  readonly onConnectionLost?: (error: Error) => void;
}

const retryMilliseconds = 200;

/** Resolves once it hears every channel. */
export async function openNotifications(options: NotificationOptions): Promise<Notifications> {
  const listeners = new Map<string, Set<(payload: string) => void>>();
  const gapListeners = new Set<() => void>();
  let client: pg.Client | undefined;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const next = new pg.Client({ connectionString: options.url, application_name: "sitewright", keepAlive: true });
    next.on("error", (error) => lost(next, error));
    next.on("end", () => lost(next, new Error("The connection ended")));
    next.on("notification", (message) => {
      for (const listener of listeners.get(message.channel) ?? []) listener(message.payload ?? "");
    });
    client = next;
    await next.connect();
    for (const channel of options.channels) await next.query(`listen ${pg.escapeIdentifier(channel)}`);
    if (closed) await next.end();
  }

  function lost(which: pg.Client, error: Error): void {
    if (closed || which !== client) return;
    client = undefined;
    options.onConnectionLost?.(error);
    which.end().catch(() => undefined);
    retry = setTimeout(reconnect, retryMilliseconds);
  }

  function reconnect(): void {
    connect().then(
      () => {
        for (const listener of gapListeners) listener();
      },
      // The client has reported it too, where it could: whichever comes first asks for the next try.
      (error: unknown) => {
        if (client) lost(client, error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  await connect();
  return {
    on: (channel, listener) => {
      if (!options.channels.includes(channel)) throw new Error(`${channel} is not among the channels that are heard`);
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set.add(listener));
      return () => set.delete(listener);
    },
    onGap: (listener) => {
      gapListeners.add(listener);
      return () => gapListeners.delete(listener);
    },
    close: async () => {
      closed = true;
      clearTimeout(retry);
      await client?.end();
    },
  };
}
