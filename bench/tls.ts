/**
 * TLS handshakes of our edge, compared with a bare Node server and nginx, with the same certificate and in alternating
 * rounds. The clients use as much processor time as the server, so servers are compared by the handshakes per second of
 * their own processor time.
 */
import { makeCertificate } from "@sitewright/server/certificates/testing/openssl.ts";
import type { Figure } from "./report.ts";
import { child, messageFrom, processorSeconds, type ServerProcess, startNginx, startNode } from "./serverProcess.ts";
import { median } from "./statistics.ts";

const rounds = 5;
const roundMilliseconds = 2_000;
const minShare = 0.8;

interface Pem {
  readonly key: string;
  readonly cert: string;
}

function nginxWith({ key, cert }: Pem): Promise<ServerProcess | null> {
  const server = "ssl_certificate cert.pem; ssl_certificate_key key.pem; return 204;";
  return startNginx({ listen: "ssl", server }, { "key.pem": key, "cert.pem": cert });
}

/** Returns handshakes per second of the server's processor time. */
async function handshake({ port, pid }: ServerProcess, kind: "full" | "resumed"): Promise<number> {
  const before = processorSeconds(pid);
  const visitors = child("tlsClient.ts", [String(port), String(roundMilliseconds), kind]);
  const handshakes = Number(await messageFrom(visitors));
  return handshakes / (processorSeconds(pid) - before);
}

async function compare(servers: readonly ServerProcess[], kind: "full" | "resumed"): Promise<readonly number[]> {
  const rates = servers.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, server] of servers.entries()) {
      const rate = await handshake(server, kind);
      // The first round warms up.
      if (round > 0) rates[index]?.push(rate);
    }
  }
  return rates.map(median);
}

export async function measureTls(): Promise<Figure[]> {
  const pem = await makeCertificate({ names: ["site.localhost"] });
  const nginx = await nginxWith(pem);
  const node = (kind: string) => startNode("tlsServer.ts", [kind, pem.key, pem.cert]);
  const servers = [await node("edge"), await node("bare"), ...(nginx === null ? [] : [nginx])];
  try {
    const figures: Figure[] = [];
    for (const kind of ["full", "resumed"] as const) {
      const [ours = 0, bare = 0, nginxRate] = await compare(servers, kind);
      const others = nginxRate === undefined ? "" : `; nginx: ${nginxRate.toFixed(0)}`;
      figures.push({
        name: `TLS handshakes per second of processor time, ${kind}, median of ${rounds}`,
        measured: `${ours.toFixed(0)} (${((100 * ours) / bare).toFixed(0)} %)`,
        target: `≥ ${100 * minShare} %`,
        isMet: ours >= minShare * bare,
        reference: `bare Node: ${bare.toFixed(0)}${others}`,
      });
    }
    return figures;
  } finally {
    for (const server of servers) await server.stop();
  }
}
