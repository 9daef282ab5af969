/** The people of the demo's company. */
import { idOf } from "./ids.ts";
import type { DemoInvitation, DemoKey, DemoSession, Person, Role } from "./world.ts";

const day = 86_400_000;

function person(
  fullName: string,
  email: string,
  role: Role,
  sites: readonly string[] | null,
  lastSignedInAt: number,
): Person {
  const siteIds = sites?.map((name) => idOf(`site ${name}`)) ?? null;
  return {
    id: idOf(email),
    ...{ email, fullName, lastSignedInAt },
    access: { role, siteIds, labelIds: sites && [] },
    factor: { appSince: null, passkeys: [], recoveryCodesLeft: 0 },
  };
}

/** The first one is signed in at the start. */
export const demoPeople = (now: number): Person[] => [
  person("Ada Lindqvist", "ada@meadow.example", "owner", null, now),
  person("Bruno Okafor", "bruno@meadow.example", "admin", null, now - 3 * day),
  {
    ...person("Chiyo Tanaka", "chiyo@meadow.example", "developer", null, now - 0.2 * day),
    factor: { appSince: now - 90 * day, passkeys: [], recoveryCodesLeft: 9 },
  },
  person("Dieter Roth", "accounts@meadow.example", "billing", null, now - 31 * day),
  person("Elena Marsh", "elena@harbour-cafe.example", "viewer", ["harbour-cafe"], now - 8 * day),
];

export const demoInvitations = (now: number): DemoInvitation[] => [
  {
    id: idOf("invitation"),
    email: "frida@night-train.example",
    access: { role: "developer", siteIds: [idOf("site night-train-journal")], labelIds: [] },
    invitedBy: idOf("ada@meadow.example"),
    createdAt: now - day,
    token: "si_demo",
  },
];

export const demoSessions = (now: number): DemoSession[] => {
  const personId = idOf("ada@meadow.example");
  return [
    { id: idOf("session here"), personId, createdAt: now, place: "203.0.113.7", browser: "This browser", system: "" },
    {
      id: idOf("session there"),
      personId,
      createdAt: now - 4 * day,
      place: "198.51.100.20",
      browser: "Firefox",
      system: "Android",
    },
  ];
};

export const demoKeys = (now: number): DemoKey[] => [
  {
    id: idOf("key deploy"),
    name: "Deploy",
    status: "active",
    expires_at: new Date(now + 200 * day).toISOString(),
    created_by: idOf("chiyo@meadow.example"),
    replaced_by: null,
    last_used_at: new Date(now - 5_400_000).toISOString(),
    allowed_addresses: ["198.51.100.0/24"],
    scopes: ["write", "non-live"],
  },
  {
    id: idOf("key reports"),
    name: "Monthly report",
    status: "active",
    expires_at: null,
    created_by: idOf("ada@meadow.example"),
    replaced_by: null,
    last_used_at: null,
    allowed_addresses: null,
    scopes: ["read"],
  },
];
