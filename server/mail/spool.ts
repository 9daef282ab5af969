/**
 * Messages on disk, on their way from PHP to the database: what is acknowledged to PHP is there after a power failure. The
 * edge process writes (and control for commands of WP-CLI), the control process reads and removes, so that sites can send
 * while control is away.
 *
 * A file's name says whose it is and how long, so that counting costs one look at the folder.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { writeDurableFile } from "../durableFile.ts";
import type { Envelope } from "./envelope.ts";
import { MailRefused } from "./refusal.ts";

export interface SpooledMail {
  readonly id: string;
  readonly environmentId: string;
  readonly bytes: number;
}

export interface SpooledContent extends Envelope {
  readonly message: Buffer;
}

export interface SpoolLimits {
  /** Of one environment. */
  readonly messages: number;
  readonly bytes: number;
  /** Of all together. */
  readonly allBytes: number;
  /** What is left of the disk to everybody else. */
  readonly freeBytes: number;
}

export interface Spool {
  /** Resolves when the message will be there whatever happens. Rejects with `MailRefused` if there is no room. */
  put(environmentId: string, content: SpooledContent): Promise<string>;
  /** In no order. */
  list(): Promise<readonly SpooledMail[]>;
  /** Null if it is gone, or is nothing that `put` has written. */
  read(mail: SpooledMail): Promise<SpooledContent | null>;
  /** Tolerates that it is gone. */
  remove(mail: SpooledMail): Promise<void>;
}

const usualLimits: SpoolLimits = { messages: 1_000, bytes: 200e6, allBytes: 2e9, freeBytes: 200e6 };

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const namePattern = new RegExp(`^(${uuid})\\.(${uuid})\\.(\\d+)$`);

export function openSpool(folder: string, limits: SpoolLimits = usualLimits): Spool {
  /** What is being written and may not be listed yet. */
  const underWay = new Set<SpooledMail>();
  const fileOf = ({ environmentId, id, bytes }: SpooledMail) => join(folder, `${environmentId}.${id}.${bytes}`);

  async function list(): Promise<readonly SpooledMail[]> {
    const names = await readdir(folder).catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    });
    return names.flatMap((name) => {
      const [, environmentId, id, bytes] = namePattern.exec(name) ?? [];
      return environmentId && id ? [{ environmentId, id, bytes: Number(bytes) }] : [];
    });
  }

  async function requireRoom({ environmentId, bytes }: SpooledMail): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < limits.freeBytes + bytes) throw new MailRefused("the server's disk is full");
    const all = new Map([...(await list()), ...underWay].map((mail) => [mail.id, mail]));
    const own = [...all.values()].filter((mail) => mail.environmentId === environmentId);
    const sum = (mails: Iterable<SpooledMail>) => [...mails].reduce((total, mail) => total + mail.bytes, 0);
    const isFull = own.length > limits.messages || sum(own) > limits.bytes || sum(all.values()) > limits.allBytes;
    if (isFull) throw new MailRefused("too many messages wait to be sent");
  }

  return {
    async put(environmentId, { message, ...envelope }) {
      const content = Buffer.concat([Buffer.from(`${JSON.stringify(envelope)}\n`), message]);
      const mail = { id: randomUUID(), environmentId: environmentId.toLowerCase(), bytes: content.length };
      underWay.add(mail);
      try {
        await requireRoom(mail);
        await writeDurableFile(fileOf(mail), content);
      } finally {
        underWay.delete(mail);
      }
      return mail.id;
    },
    list,
    read: async (mail) => {
      const content = await readFile(fileOf(mail)).catch(() => null);
      return content?.length === mail.bytes ? unpack(content) : null;
    },
    remove: (mail) => rm(fileOf(mail), { force: true }),
  };
}

function unpack(content: Buffer): SpooledContent | null {
  const end = content.indexOf("\n");
  const envelope: unknown = JSON.parse(content.toString("utf8", 0, end));
  return isEnvelope(envelope) ? { ...envelope, message: content.subarray(end + 1) } : null;
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== "object" || value === null || !("sender" in value) || !("recipients" in value)) return false;
  const { sender, recipients } = value;
  const isSender = sender === null || typeof sender === "string";
  return isSender && Array.isArray(recipients) && recipients.every((one) => typeof one === "string");
}
