/**
 * `listsClient.ts <port> <count> <path> <headers as JSON>`: requests one URL several times, one after another, over one connection.
 * Sends what each response took over IPC.
 */
import { Agent, request } from "node:http";

const [port = "", count = "", path = "/", headers = "{}"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Milliseconds to the first byte and to the last one. */
async function read() {
  const start = performance.now();
  const sent = request({ host: "127.0.0.1", port, path, agent, headers: JSON.parse(headers) }).end();
  return new Promise<{ status: number; first: number; total: number; bytes: number }>((resolve, reject) => {
    sent.once("error", reject).once("response", (response) => {
      let [first, bytes] = [performance.now() - start, 0];
      response
        .once("data", () => {
          first = performance.now() - start;
        })
        .on("data", (chunk: Buffer) => {
          bytes += chunk.length;
        })
        .once("error", reject)
        .once("end", () =>
          resolve({ status: response.statusCode ?? 0, first, total: performance.now() - start, bytes }),
        );
    });
  });
}

const responses = [];
for (let index = 0; index < Number(count); index += 1) responses.push(await read());
process.send?.({ responses });
agent.destroy();
