/** An index of pieces in memory, for one company and one backup at a time. */
import { keyOf, type PieceIndex, type StoredPiece } from "../pieceIndex.ts";

interface MemoryIndex extends PieceIndex {
  readonly pieces: Map<string, Omit<StoredPiece, "isLost">>;
  /** Sizes of packs; null while unfinished. */
  readonly packs: Map<string, number | null>;
  /** When packs were last read. */
  readonly readAt: Map<string, Date>;
}

export function createMemoryIndex(): MemoryIndex {
  const pieces = new Map<string, Omit<StoredPiece, "isLost">>();
  const packs = new Map<string, number | null>();
  const readAt = new Map<string, Date>();
  const needed = new Set<string>();
  const lost = new Set<string>();
  return {
    pieces,
    packs,
    readAt,
    claim: async (names) => {
      const stored = names.map(keyOf).filter((key) => pieces.has(key) && !lost.has(pieces.get(key)?.pack ?? ""));
      for (const key of stored) needed.add(pieces.get(key)?.pack ?? "");
      return new Set(stored);
    },
    beginPack: async (pack) => {
      packs.set(pack, null);
    },
    addPack: async (pack, bytes, inside) => {
      packs.set(pack, bytes);
      readAt.set(pack, new Date());
      needed.add(pack);
      for (const piece of inside) pieces.set(keyOf(piece.name), { ...piece, pack });
    },
    locate: async (names) => {
      const found = names.flatMap((name) => pieces.get(keyOf(name)) ?? []);
      return new Map(found.map((piece) => [keyOf(piece.name), { ...piece, isLost: lost.has(piece.pack) }]));
    },
    markLost: async (packs) => {
      for (const pack of packs) lost.add(pack);
    },
    release: async (packs) => {
      for (const pack of packs) needed.delete(pack);
    },
    neededPacks: async () => {
      const facts = (pack: string) => ({ bytes: packs.get(pack) ?? 0, readAt: readAt.get(pack) ?? null });
      return new Map([...needed].map((pack) => [pack, { ...facts(pack), isLost: lost.has(pack) }]));
    },
    piecesIn: async (pack) => [...pieces.values()].filter((piece) => piece.pack === pack),
    noteRead: async (pack) => {
      readAt.set(pack, new Date());
    },
  };
}
