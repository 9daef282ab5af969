/**
 * Sends lists page by page. The next page is read while one is sent, so a response takes the memory of two pages, however long
 * the list is. A list of one page is sent as a whole.
 *
 * The entity tag comes from the list's version, because the text is not known before it is sent. So a 304 needs neither the list
 * nor its text. A client that takes too long over a page is disconnected: it would otherwise occupy a connection for ever.
 */
import { addAbortSignal, Readable } from "node:stream";
import type { ListPage, PagedList } from "@sitewright/contract/lists.ts";
import type { FinishedAnswer } from "@sitewright/server/app/idempotency.ts";
import type { FastifyReply } from "fastify";
import { type TSchema, Type } from "typebox";
import { entityTagOf, isCurrent, notModified, tagHeaders } from "./entityTags.ts";
import { limitTaking, type TakingLimit } from "./takingLimit.ts";
import { makeWriter } from "./writer.ts";

/** How lists of an endpoint are written. */
interface ListForm {
  /** The text before and after the items. */
  readonly head: string;
  readonly tail: string;
  /** Writes items, separated by commas. */
  readonly write: (items: readonly unknown[]) => string;
  /** Differs for another form. */
  readonly digest: string;
}

export interface ListAnswer {
  readonly list: PagedList<unknown>;
  readonly form: ListForm;
}

/** The list is nested in `fields`, outermost first. `item` is the schema of its items. */
export function listForm(fields: readonly string[], item: TSchema): ListForm {
  const head = `${fields.map((field) => `{"${field}":`).join("")}[`;
  const tail = `]${"}".repeat(fields.length)}`;
  const write = makeWriter(Type.Array(item));
  return { head, tail, write: (items) => write(items).slice(1, -1), digest: entityTagOf(head + JSON.stringify(item)) };
}

interface Sending {
  readonly reply: FastifyReply;
  /** The header `If-None-Match`. */
  readonly condition: string | undefined;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  /** How long a client may take over a page. */
  readonly pageMilliseconds: number;
}

export function isPagedList(value: unknown): value is PagedList<unknown> {
  return typeof value === "object" && value !== null && "version" in value && "read" in value;
}

/** Reads the first page, and begins to send the list. Errors of later pages end the connection. */
export async function listResponse(
  { reply, condition, stopping, pageMilliseconds }: Sending,
  { list, form }: ListAnswer,
): Promise<FinishedAnswer<string | Readable | null>> {
  const tag = entityTagOf(form.digest + list.version);
  if (isCurrent(condition, tag)) return notModified(tag);
  const first = await list.read();
  const headers = tagHeaders(tag);
  if (first.next === null) return { status: 200, headers, body: form.head + form.write(first.items) + form.tail };
  // Its headers say enough.
  if (reply.request.method === "HEAD") return { status: 200, headers, body: Readable.from([]) };
  const limit = limitTaking(reply.raw, pageMilliseconds);
  const body = Readable.from(pageTexts(first, form, limit), { objectMode: false });
  return { status: 200, headers, body: addAbortSignal(stopping, body) };
}

async function* pageTexts(
  first: ListPage<unknown>,
  { head, tail, write }: ListForm,
  limit: TakingLimit,
): AsyncGenerator<string> {
  // Kept as text, which is smaller than the rows.
  const written = ({ items, next }: ListPage<unknown>) => ({ text: write(items), next });
  let page = written(first);
  let before = head;
  while (page.next !== null) {
    const following = page.next().then(written);
    // Handled below, unless the client has disconnected by then.
    following.catch(() => undefined);
    limit.start();
    yield before + page.text;
    limit.stop();
    page = await following;
    before = page.text === "" ? "" : ",";
  }
  // Until all of it has been sent.
  limit.start();
  yield before + page.text + tail;
}
