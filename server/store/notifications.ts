/**
 * Listens to PostgreSQL's notifications (`pg_notify`) on one connection and reconnects if it is lost. Notifications
 * sent meanwhile are lost; `onGap` tells listeners to read the rows instead.
 */
import pg from "pg";

export interface Notifications {
  /** Calls `listener` with the payload of each notification. Returns a function that ends the subscription. */
  on(channel: string, listener: (payload: string) => void): () => void;
  /** Calls `listener` after each reconnection. Returns a function that ends the subscription. */
  onGap(listener: () => void): () => void;
  close(): Promise<void>;
}

interface NotificationOptions {
  readonly url: string;
  readonly channels: readonly string[];
  readonly onConnectionLost?: (error: Error) => void;
  /** Called with each connection, before it listens. */
  readonly onConnect?: (client: pg.ClientBase) => Promise<void>;
}

const retryMilliseconds = 200;

/** Resolves once it listens on all channels. */
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
    await options.onConnect?.(next);
    for (const channel of options.channels) await next.query(`listen ${pg.escapeIdentifier(channel)}`);
    if (closed) await next.end();
  }

  function lost(lostClient: pg.Client, error: Error): void {
    if (closed || lostClient !== client) return;
    client = undefined;
    options.onConnectionLost?.(error);
    lostClient.end().catch(() => undefined);
    retry = setTimeout(reconnect, retryMilliseconds);
  }

  function reconnect(): void {
    connect().then(
      () => {
        for (const listener of gapListeners) listener();
      },
      // The client may have reported the error too; the first report schedules the next attempt.
      (error: unknown) => {
        if (client) lost(client, error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  await connect();
  return {
    on: (channel, listener) => {
      if (!options.channels.includes(channel)) throw new Error(`Not listening on channel ${channel}`);
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
