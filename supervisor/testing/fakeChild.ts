/**
 * A fake of control, edge, dns or the preparation: `node fakeChild.ts <name>`. It listens on its port, sends the ready
 * message, and writes its signals to `<data>/events`. Requests make it misbehave: `/die`, `/hang`, `/spin`, `/warn`.
 */
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { descriptorsOf, type SocketName, takeInheritedSockets } from "@sitewright/server/inheritedSockets.ts";
import { secretSettings } from "@sitewright/server/settings/settings.ts";

const [name = ""] = process.argv.slice(2);
const data = process.env.SITEWRIGHT_DATA ?? "";
const portOf: Readonly<Record<string, string>> = {
  control: "SITEWRIGHT_CONTROL_PORT",
  edge: "SITEWRIGHT_EDGE_PORT",
  dns: "SITEWRIGHT_DNS_PORT",
};
const socketOf: Readonly<Record<string, SocketName>> = { control: "api", edge: "http", dns: "dns-tcp" };
const port = process.env[portOf[name] ?? ""];
const record = (event: string) => appendFileSync(join(data, "events"), `${name} ${event}\n`);
const sockets = takeInheritedSockets(process.env);
let hangs = false;

function exitUnlessHanging(event: string): void {
  if (!hangs) {
    record(event);
    process.exit(0);
  }
}

if (name === "prepare") {
  process.send?.({ type: "progress", phase: "Unpacking the fake", done: 1, total: 2 });
  if (process.env.SITEWRIGHT_TEST_BROKEN_DOWNLOAD !== undefined) {
    console.error("The download failed. Run npm start again.");
    process.exit(1);
  }
  if (process.env.SITEWRIGHT_TEST_SLOW_DOWNLOAD === undefined) {
    process.exit(0);
  }
  writeFileSync(join(data, "prepare.pid"), String(process.pid));
}
if (existsSync(join(data, `${name}.broken`))) {
  console.error(`${name} is broken and says why`);
  process.exit(3);
}
process.on("SIGTERM", () => exitUnlessHanging("SIGTERM"));
process.on("SIGINT", () => record("SIGINT"));
process.on("disconnect", () => exitUnlessHanging("disconnect"));
const server = createServer((request, response) => {
  if (request.url === "/die") {
    console.error(`the last message${"\n    at somewhere".repeat(30)}`);
    process.exit(4);
  }
  if (request.url === "/warn") {
    console.log(JSON.stringify({ level: 40, msg: "something is odd" }));
  }
  if (request.url === "/spin") {
    response.end("{}", () => {
      for (;;) {
        // Handles neither signals nor a closed channel.
      }
    });
    return;
  }
  hangs ||= request.url === "/hang";
  const secrets = Object.entries(process.env).filter(([setting]) => secretSettings.has(setting));
  response.end(
    JSON.stringify({
      pid: process.pid,
      database: process.env.DATABASE_URL ?? null,
      secrets: Object.fromEntries(secrets),
    }),
  );
});
const [fd] = descriptorsOf(sockets, socketOf[name] ?? "api") ?? [];
const where = fd === undefined ? { port: Number(port ?? 0), host: process.env.SITEWRIGHT_HOST ?? "127.0.0.1" } : { fd };
server.listen(where, () => {
  if (name === "control" && !existsSync(join(data, "first-run.json"))) {
    const facts = { company_id: "the-company", api_key: "sk_the_key", admin_email: "admin@example.com" };
    writeFileSync(join(data, "first-run.json"), JSON.stringify(facts));
  }
  record("ready");
  process.send?.({ type: "ready" });
});
