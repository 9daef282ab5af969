/** Every dialog of the console is opened in Chromium and examined by axe. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it, test } from "vitest";
import { makeCertificate } from "../certificates/testing/openssl.ts";
import { addMail, addOwnDomain } from "../store/testing/rows.ts";
import { putPackages } from "../testing/packages.ts";
import { goTo, problemsOf, useConsolePages } from "./testing/consolePages.ts";
import { chosen, ownPage, peopleOf } from "./testing/people.ts";

const pages = useConsolePages();
let page: Page;
/** Parts of addresses. */
const ids = { site: "", live: "", other: "", zone: "" };

beforeAll(async () => {
  const { server, open } = pages.current;
  const { siteId, liveId, id } = await server.addSiteWithEnvironment();
  Object.assign(ids, { site: siteId, live: liveId, other: id });
  await server.addBackup(liveId);
  await addMail(server.database, liveId, { subject: "An order" });
  await addCertificate(await addOwnDomain(server.database, liveId, { name: "shop.example.com" }));
  ids.zone = await addZone();
  await putPackages(server.database, liveId, [{ name: "shop", version: "1.0" }]);
  await server.database.updateTable("packages").set({ update_version: "2.0" }).execute();
  await server.deleteSite(await server.addSite({ display_name: "Bakery" }));
  const labels = `/v2/company/${server.company.company_id}/labels`;
  await server.call("POST", labels, { body: { name: "Client A" } });
  const key = await server.addKey({ name: "Deploy" });
  const rotation = { body: { overlap_hours: 24 }, key: key.token };
  await server.call("POST", `/v2/company/${server.company.company_id}/api-keys/${key.id}/rotate`, rotation);
  const people = peopleOf({ current: server });
  const colleague = await people.signIn(await people.add({ role: "viewer" }));
  await enrol((method, body) => people.call(colleague, method, "/session/second-factor", { body }));
  page = await open(await people.add({ role: "owner" }), "/sites");
  await enrol(async (method, data) => {
    const request = { method, data, headers: ownPage };
    const answer = await page.request.fetch(`${pages.current.origin}/v2/session/second-factor`, request);
    return { body: await answer.json() };
  });
});

type CallFactor = (method: "POST" | "PUT", body: object) => Promise<{ readonly body: { readonly secret?: string } }>;

/** Adds a second factor. */
async function enrol(call: CallFactor): Promise<void> {
  const { secret = "" } = (await call("POST", { current_password: chosen })).body;
  await call("PUT", { code: TOTP.generate({ secret: Secret.fromBase32(secret) }) });
}

async function addCertificate(domainId: string): Promise<void> {
  const { cert, key } = await makeCertificate({ names: ["shop.example.com"], subject: "/CN=Own" });
  const body = { custom_ssl_cert: cert, custom_ssl_key: key };
  const path = `/v2/sites/environments/domains/${domainId}/certificate`;
  expect((await pages.current.server.call("PUT", path, { body })).status).toBe(200);
}

/** Adds a domain with records, which have been changed. Returns its id. */
async function addZone(): Promise<string> {
  const { call, database } = pages.current.server;
  await call("POST", `/v2/sites/environments/${ids.live}/domains`, { body: { domain_name: "zone.example" } });
  const row = database.selectFrom("domains").select("id").where("name", "=", "zone.example");
  const { id } = await row.executeTakeFirstOrThrow();
  for (const name of ["zone.example", "www.zone.example"]) {
    const body = { type: "A", name, ttl: 300, resource_records: [{ value: "203.0.113.7" }] };
    await call("POST", `/v2/domains/${id}/dns-records`, { body });
  }
  return id;
}

/** The problems of the dialog that was opened last, in each width and colour scheme. */
async function problemsOfDialog(): Promise<unknown[]> {
  const within = "[role=dialog][data-examined]";
  await page.evaluate("[...document.querySelectorAll('[role=dialog]')].at(-1).dataset.examined = ''");
  const found: unknown[] = [];
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme: "light" });
    found.push(await problemsOf(page, { within }));
    await page.emulateMedia({ colorScheme: "dark" });
    found.push(await problemsOf(page, { within, rule: "color-contrast" }));
    found.push(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth"));
  }
  return found;
}

const noProblems = [[], [], 0, [], [], 0];

const onSite = (tab: string) => () => `/sites/${ids.site}?tab=${tab}`;
const onOther = () => `/sites/${ids.site}?tab=environments&environment=${ids.other}`;
const at = (path: string) => () => path;
const onSites = at("/sites?search=");

/** The names, or their parts, of what to click one after the other. */
const steps = (...names: readonly string[]) => names;

interface Dialog {
  /** The source, in `console/app`. */
  readonly file: string;
  readonly path: () => string;
  readonly clicks: readonly string[];
}

const dialogs: readonly Dialog[] = [
  { file: "pages/site/RestoreDialog.tsx", path: onSite("backups"), clicks: steps("Restore the backup of") },
  { file: "pages/site/RemovalDialog.tsx", path: onSite("backups"), clicks: steps("Delete the backup of") },
  { file: "pages/site/DomainDialogs.tsx", path: onSite("domains"), clicks: steps("Set up shop") },
  { file: "pages/site/DomainDialogs.tsx", path: onSite("domains"), clicks: steps("Make primary: shop") },
  { file: "pages/site/DomainDialogs.tsx", path: onSite("domains"), clicks: steps("Remove shop") },
  {
    file: "pages/site/CustomCertificate.tsx",
    path: onSite("domains"),
    clicks: steps("Set up shop", "Remove the uploaded certificate"),
  },
  { file: "pages/site/Deletions.tsx", path: onOther, clicks: steps("Delete the environment") },
  { file: "pages/site/Deletions.tsx", path: onOther, clicks: steps("Delete the site") },
  { file: "pages/site/Deletions.tsx", path: onOther, clicks: steps("Reset the site") },
  { file: "pages/site/MailDialog.tsx", path: onSite("mail"), clicks: steps("Read An order") },
  { file: "pages/site/MailRemoval.tsx", path: onSite("mail"), clicks: steps("Delete An order") },
  { file: "pages/site/MailRemoval.tsx", path: onSite("mail"), clicks: steps("Delete all mail") },
  { file: "parts/CurlButton.tsx", path: onSite("tools"), clicks: steps("Show as curl") },
  { file: "parts/palette/Palette.tsx", path: onSite("overview"), clicks: steps("Search") },
  { file: "parts/OperationsPanel.tsx", path: onSite("overview"), clicks: steps("Operations") },
  { file: "parts/LogInButton.tsx", path: onSites, clicks: steps("WP admin of") },
  {
    file: "pages/sites/BulkDialog.tsx",
    path: onSites,
    clicks: steps("Select all", "Actions", "Change the PHP version"),
  },
  {
    file: "pages/sites/BulkDialog.tsx",
    path: onSites,
    clicks: steps("Select all", "Actions", "Set automatic updates"),
  },
  { file: "pages/sites/BulkDialog.tsx", path: onSites, clicks: steps("Select all", "Actions", "Add a label") },
  { file: "pages/sites/BulkDialog.tsx", path: onSites, clicks: steps("Select all", "Actions", "Delete") },
  { file: "pages/sites/LabelsPage.tsx", path: at("/labels"), clicks: steps("Rename Client A") },
  { file: "pages/sites/LabelsPage.tsx", path: at("/labels"), clicks: steps("Delete Client A") },
  { file: "pages/DeletedSitesPage.tsx", path: at("/deleted-sites"), clicks: steps("Restore Bakery") },
  { file: "pages/ApiKeyDialogs.tsx", path: at("/api-keys"), clicks: steps("Allowed addresses of Deploy") },
  { file: "pages/ApiKeyDialogs.tsx", path: at("/api-keys"), clicks: steps("Rotate Deploy") },
  { file: "pages/RevocationDialog.tsx", path: at("/api-keys"), clicks: steps("Revoke Deploy") },
  { file: "pages/dns/ZonePage.tsx", path: () => `/dns/${ids.zone}`, clicks: steps("Remove A www.zone.example") },
  {
    file: "pages/dns/ZoneVersions.tsx",
    path: () => `/dns/${ids.zone}`,
    clicks: steps("Compare version", "Restore this version"),
  },
  {
    file: "pages/fleet/FleetPackages.tsx",
    path: at("/fleet?tab=plugins"),
    clicks: steps("Update everywhere: The shop"),
  },
  { file: "pages/people/InviteDialog.tsx", path: at("/people"), clicks: steps("Invite somebody") },
  { file: "pages/people/AccessDialog.tsx", path: at("/people"), clicks: steps("Change the role and sites of") },
  { file: "pages/people/ResetDialog.tsx", path: at("/people"), clicks: steps("Reset second factor of") },
  { file: "pages/people/RemoveDialog.tsx", path: at("/people"), clicks: steps("Remove Grace Hopper") },
  { file: "parts/FactorList.tsx", path: at("/account"), clicks: steps("Remove Authenticator app") },
  { file: "pages/SecondFactorCard.tsx", path: at("/account"), clicks: steps("New recovery codes") },
];

describe("axe objects to nothing in a dialog at 390 and 1440 pixels, in light and dark colours:", () => {
  it.each(dialogs.map((dialog) => [dialog.file, dialog.clicks.join(", "), dialog] as const))(
    "%s, %s",
    async (_file, _clicks, { path, clicks }) => {
      await page.setViewportSize({ width: 1440, height: 844 });
      await goTo(page, path());
      for (const name of clicks) {
        const role = page.getByRole("button", { name, disabled: false }).or(page.getByRole("menuitem", { name }));
        // The first version of a zone is at the end. Other names are those of one button, or of equal ones.
        await (name === "Compare version" ? role.last() : role.first()).click();
      }
      await page
        .getByRole("dialog")
        .nth(clicks[0] === "Set up shop" ? clicks.length - 1 : 0)
        .waitFor();
      await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
      const problems = await problemsOfDialog();
      // Before the assertion, so that the next dialog can be opened in any case.
      while ((await page.getByRole("dialog").count()) > 0) {
        const last = page.getByRole("dialog").last();
        await page.keyboard.press("Escape");
        await last.waitFor({ state: "detached" });
      }
      expect(problems).toEqual(noProblems);
    },
  );

  it("parts/SessionGuard.tsx", async () => {
    await page.context().clearCookies();
    await goTo(page, "/usage");
    await page.getByRole("dialog").getByText("session has ended").waitFor();
    expect(await problemsOfDialog()).toEqual(noProblems);
  });
});

/** Dialogs that others fill, and which are examined with these. */
const frames = ["parts/ConfirmDialog.tsx", "parts/PasswordDialog.tsx", "pages/sites/RenameDialog.tsx"];

/** Needs a sign-in provider; `providerInBrowser.test.ts` examines it. */
const elsewhere = ["pages/ProviderAccountsCard.tsx"];

test("no dialog is missing above", () => {
  const folder = join(import.meta.dirname, "../../console/app");
  const withDialog = globSync("**/*.tsx", { cwd: folder })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) =>
      /<(Modal|Drawer|\w+Dialog)\s[^>]*\b(opened|title)=/.test(readFileSync(join(folder, file), "utf8")),
    );
  const examined = new Set([...dialogs.map(({ file }) => file), ...frames, ...elsewhere, "parts/SessionGuard.tsx"]);
  expect(withDialog.filter((file) => !examined.has(file))).toEqual([]);
});
