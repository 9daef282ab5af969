/**
 * Takes what PHP has handed over from the disk into the database, each message once. What is not taken stays where it is:
 * an environment whose messages wait in great number already fills its share of the disk, and is then told by PHP that it
 * can't send.
 */
import type { Spool, SpooledMail } from "../mail/spool.ts";
import { summarise } from "../mail/summary.ts";
import type { Database } from "../store/database.ts";
import { countQueued, insertMail } from "../store/traffic/mails.ts";

export interface TakeMailsOptions {
  readonly database: Database;
  readonly spool: Pick<Spool, "list" | "read" | "remove">;
  /** Whether there is a mail server. */
  readonly hasServer: boolean;
  /** Told of a message that can't be read. */
  readonly onBroken: (mail: SpooledMail) => void;
  readonly limits?: QueueLimits;
}

/** What of one environment may wait to be sent. */
export interface QueueLimits {
  readonly messages: number;
  readonly bytes: number;
}

const usualLimits: QueueLimits = { messages: 5_000, bytes: 500e6 };

export function makeTakeMails(options: TakeMailsOptions): () => Promise<void> {
  const { database, spool, hasServer, onBroken, limits = usualLimits } = options;
  /** Left where they are, and told of once. */
  const broken = new Set<string>();

  /** Null if it has changed since it was checked. */
  async function read(mail: SpooledMail) {
    try {
      const content = await spool.read(mail);
      return content && { ...content, ...summarise(content.message) };
    } catch {
      return null;
    }
  }

  async function take(mail: SpooledMail): Promise<void> {
    const { id, environmentId } = mail;
    const content = await read(mail);
    if (content === null) {
      broken.add(id);
      onBroken(mail);
      return;
    }
    await insertMail(database, { id, environmentId, ...content }, hasServer);
    await spool.remove(mail);
  }

  return async () => {
    const mails = (await spool.list()).filter(({ id }) => !broken.has(id));
    if (mails.length === 0) return;
    const byEnvironment = Map.groupBy(mails, ({ environmentId }) => environmentId);
    const queued = await countQueued(database, [...byEnvironment.keys()]);
    for (const [environmentId, own] of byEnvironment) {
      let { messages, bytes } = queued.get(environmentId) ?? { messages: 0, bytes: 0 };
      for (const mail of own) {
        if (messages >= limits.messages || bytes >= limits.bytes) break;
        await take(mail);
        messages += 1;
        bytes += mail.bytes;
      }
    }
  };
}
