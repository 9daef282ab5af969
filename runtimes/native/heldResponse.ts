/** A response that is held back until it is known to be valid. */
import { once } from "node:events";
import { Readable } from "node:stream";
import type { FastCgiResponse } from "./fastcgi/connection.ts";

/** Longer responses begin before they are known to be valid, and can't be withdrawn then. */
const maxHeldBytes = 16 << 20;

export class HeldResponse {
  readonly #source: Readable;
  readonly #content: Readable;
  readonly #begin: (content: Readable) => void;
  #bytes = 0;
  #hasBegun = false;

  /** `begin` is called once, when the visitor may have the response. */
  constructor({ body }: FastCgiResponse, begin: (content: Readable) => void) {
    this.#source = body;
    this.#begin = begin;
    this.#content = new Readable({ read: () => void body.resume() });
    this.#content.once("close", () => body.destroy());
    body.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const isWaiting = !this.#content.push(chunk);
    if (this.#hasBegun && isWaiting) this.#source.pause();
    if (!this.#hasBegun && this.#bytes > maxHeldBytes) this.#start();
  }

  #start(): void {
    this.#hasBegun = true;
    this.#begin(this.#content);
  }

  /** Lets the visitor have the response. Resolves when all of it has been read from PHP; its content has no end yet. */
  async release(): Promise<void> {
    if (!this.#hasBegun) this.#start();
    if (!this.#source.readableEnded && !this.#source.destroyed)
      await once(this.#source, "close").catch(() => undefined);
  }
}
