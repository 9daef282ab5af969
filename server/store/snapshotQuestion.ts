/**
 * Asks PostgreSQL for the current snapshot, in as little time as possible: it is asked thousands of times a second.
 *
 * The driver's own queries serialise five messages each, create a dozen objects and promises, and let PostgreSQL describe the
 * result. This one sends the same bytes each time, and reads one text.
 */
import type { Connection, PoolClient, Submittable } from "pg";

export const snapshotStatement = "select pg_current_snapshot()::text";
const name = "snapshot";

/** A message of PostgreSQL's protocol. Its length includes that of the length itself. */
function message(type: string, ...parts: readonly (string | readonly number[])[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(`${part}\0`) : Buffer.from(part))),
  );
  const length = Buffer.alloc(4);
  length.writeInt32BE(length.length + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const noParameters = [0, 0];
/** Formats of parameters, parameters, and formats of results: none, so that the result is text. */
const textOnly = [0, 0, 0, 0, 0, 0];
const allRows = [0, 0, 0, 0];
const unnamed = "";

const ask = Buffer.concat([message("B", unnamed, name, textOnly), message("E", unnamed, allRows), message("S")]);
const parseAndAsk = Buffer.concat([message("P", name, snapshotStatement, noParameters), ask]);

/** Connections on which the statement is prepared. */
const prepared = new WeakSet<Connection>();

/** Node-postgres calls these for the messages of a statement that runs. */
interface Running extends Submittable {
  /** For `silence.ts`. */
  readonly text: string;
  handleDataRow(row: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(): void;
  handleReadyForQuery(connection: Connection): void;
  handleError(error: unknown): void;
}

/** Rejects if the connection is lost. */
export function askForSnapshot(client: PoolClient): Promise<string> {
  return new Promise((resolve, reject) => {
    let snapshot = "";
    const question: Running = {
      text: snapshotStatement,
      submit(connection) {
        connection.stream.write(prepared.has(connection) ? ask : parseAndAsk);
      },
      handleDataRow({ fields: [text] }) {
        snapshot = String(text);
      },
      handleCommandComplete: () => undefined,
      handleReadyForQuery(connection) {
        prepared.add(connection);
        resolve(snapshot);
      },
      handleError: reject,
    };
    client.query(question);
  });
}
