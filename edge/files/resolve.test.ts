import { expect, test } from "vitest";
import { readPath } from "../http/path.ts";
import type { LookUp } from "../tables/fileLookup.ts";
import type { EdgeEnvironment } from "../tables/table.ts";
import { resolve } from "./resolve.ts";

const files = [
  "index.php",
  "wp-login.php",
  "wp-config.php",
  "readme.html",
  "wp-admin/index.php",
  "wp-admin/network/index.php",
  "wp-admin/admin-ajax.php",
  "wp-admin/css/common.css",
  "wp-includes/js/jquery.js",
  "wp-content/index.php",
  "wp-content/plugins/x/style.css",
  "wp-content/plugins/x/run.php",
  "wp-content/plugins/folder.php/page.php",
  "wp-content/plugins/folder.php/style.css",
  "wp-content/uploads/cat.jpg",
  "wp-content/uploads/evil.php",
  "wp-content/uploads/nest/index.php",
  "wp-content/uploads/page/index.html",
  "old/index.html",
  "empty/file.txt",
  "ümläut.txt",
  ".well-known/acme-challenge/token",
  ".well-known/run.php",
  ".well-known/folder/index.php",
  "wp-config",
  "dump.zip",
  "download.zip",
  "id_rsa",
  "wp-json/kept/auth.json",
  "wp-json/.hidden/index.html",
  "wp-content/uploads/product.zip",
];

const version = { size: 1, modified: 1, changed: 1, inode: 1 };

/** A web root with these files and no symbolic links. */
const lookUp: LookUp = async (segments) => {
  const path = segments.join("/");
  const found = (kind: "file" | "directory") => ({ kind, path: `/root/${path}`, segments, version });
  if (files.includes(path)) return found("file");
  return path === "" || files.some((file) => file.startsWith(`${path}/`)) ? found("directory") : null;
};

async function decide(url: string, multisite: EdgeEnvironment["multisite"] = null): Promise<string> {
  const path = readPath(url);
  if (path === null) return "malformed";
  const decision = await resolve(path, { multisite, host: "site.localhost" }, lookUp);
  switch (decision.kind) {
    case "php":
      return `run ${decision.script}${decision.pathInfo === "" ? "" : ` with ${decision.pathInfo}`}`;
    case "static":
      return `send ${decision.file.slice("/root/".length)}`;
    case "redirect":
      return `go to ${decision.location}`;
    case "refuse":
      return "refuse";
  }
}

const single: readonly (readonly [url: string, decision: string])[] = [
  ["/", "run /index.php"],
  ["/?p=1", "run /index.php"],
  ["//", "run /index.php"],
  ["/hello-world/", "run /index.php"],
  ["/2026/11/hello", "run /index.php"],
  ["/wp-json/wp/v2/posts", "run /index.php"],
  ["/robots.txt", "run /index.php"],
  ["/wp-sitemap.xml", "run /index.php"],
  ["/%E4%B8%AD%E6%96%87/", "run /index.php"],
  ["/%E4-is-latin-1/", "run /index.php"],
  ["/index.php", "run /index.php"],
  ["/index.php/2026/hello/", "run /index.php with /2026/hello/"],
  ["/index.php/", "run /index.php with /"],
  ["/index.php/a%20b", "run /index.php with /a b"],
  ["/wp-login.php?action=lostpassword", "run /wp-login.php"],
  ["//wp-login.php", "run /wp-login.php"],
  ["/%77p-login.php", "run /wp-login.php"],
  ["/wp-admin", "go to /wp-admin/"],
  ["/wp-admin?a=b&c=%2F", "go to /wp-admin/?a=b&c=%2F"],
  ["//wp-admin", "go to /wp-admin/"],
  ["/wp-admin/", "run /wp-admin/index.php"],
  ["/wp-admin/network/", "run /wp-admin/network/index.php"],
  ["/wp-admin/admin-ajax.php", "run /wp-admin/admin-ajax.php"],
  ["/wp-admin/css/common.css?ver=7.1.1", "send wp-admin/css/common.css"],
  ["/wp-includes/js/jquery.js", "send wp-includes/js/jquery.js"],
  ["/wp-content/plugins/x/run.php", "run /wp-content/plugins/x/run.php"],
  ["/wp-content/plugins/x/style.css", "send wp-content/plugins/x/style.css"],
  ["/wp-content/plugins/x/style.css/", "run /index.php"],
  ["/wp-content/plugins/x/style.css/evil.php", "run /index.php"],
  ["/wp-content/plugins/x/style.css/index.php/a", "run /index.php"],
  ["/wp-content/plugins/folder.php/page.php/a", "run /wp-content/plugins/folder.php/page.php with /a"],
  ["/wp-content/plugins/folder.php/style.css", "send wp-content/plugins/folder.php/style.css"],
  ["/gone.php", "run /index.php"],
  ["/wp-rss2.php", "run /index.php"],
  ["/readme.html", "send readme.html"],
  ["/old/", "send old/index.html"],
  ["/old", "go to /old/"],
  ["/empty", "run /index.php"],
  ["/empty/", "run /index.php"],
  ["/%C3%BCml%C3%A4ut.txt", "send ümläut.txt"],
  ["/.well-known/acme-challenge/token", "send .well-known/acme-challenge/token"],
  ["/.well-known/absent", "run /index.php"],
  ["/wp-content/uploads/cat.jpg", "send wp-content/uploads/cat.jpg"],
  ["/wp-content/uploads/page/", "send wp-content/uploads/page/index.html"],
  ["/wp-content/uploads/nest/", "run /index.php"],
  ["/wp-content/uploads/nest", "run /index.php"],
  ["/wp-content/uploads/evil.php", "refuse"],
  ["/wp-content/uploads/evil.php/cat.jpg", "refuse"],
  ["/wp-content/UPLOADS/evil.php", "refuse"],
  ["/wp-content//uploads/evil.php", "refuse"],
  ["/wp-content/uploads/absent.php", "refuse"],
  ["/.well-known/run.php", "refuse"],
  ["/.well-known/folder/", "run /index.php"],
  ["/wp-config", "refuse"],
  ["/wp-config/", "run /index.php"],
  ["/dump.zip", "refuse"],
  ["/absent.zip", "run /index.php"],
  ["/download.zip", "send download.zip"],
  ["/tag/dockerfile/", "run /index.php"],
  ["/tag/id_rsa/", "run /index.php"],
  ["/errorlog/", "run /index.php"],
  ["/id_rsa", "refuse"],
  ["/auth.json", "refuse"],
  ["/wp-json/wp/v2/media/auth.json", "run /index.php"],
  ["/wp-json/x/.env", "run /index.php"],
  ["/wp-json/kept/auth.json", "refuse"],
  ["/wp-json/.hidden", "refuse"],
  ["/wp-content/uploads/product.zip", "send wp-content/uploads/product.zip"],
  ["/wp-admin/index.php/x.css", "refuse"],
  ["/wp-login.php/a/y.TXT", "refuse"],
  ["/wp-content/plugins/x/run.php/image", "run /wp-content/plugins/x/run.php with /image"],
  ["/index.php/data.json", "run /index.php with /data.json"],
  ["/wp-config-explained/", "run /index.php"],
  ["/notes-about-php/", "run /index.php"],
  ["/blog/wp-admin/", "run /index.php"],
  ["/blog/wp-content/uploads/cat.jpg", "run /index.php"],
];

test.each(single)("in a single site, %s means: %s", async (url, decision) => {
  expect(await decide(url)).toBe(decision);
});

const subdirectory: readonly (readonly [url: string, decision: string])[] = [
  ["/", "run /index.php"],
  ["/blog/", "run /index.php"],
  ["/blog", "run /index.php"],
  ["/blog/hello-world/", "run /index.php"],
  ["/blog/wp-admin", "go to /blog/wp-admin/"],
  ["/blog/wp-admin/", "run /wp-admin/index.php"],
  ["/blog/wp-admin/admin-ajax.php", "run /wp-admin/admin-ajax.php"],
  ["/blog/wp-admin/css/common.css", "send wp-admin/css/common.css"],
  ["/blog/wp-includes/js/jquery.js", "send wp-includes/js/jquery.js"],
  ["/blog/wp-content/uploads/cat.jpg", "send wp-content/uploads/cat.jpg"],
  ["/blog/wp-content/uploads/evil.php", "refuse"],
  ["/blog/wp-config.php", "refuse"],
  ["/blog/wp-login.php", "run /wp-login.php"],
  ["/blog/index.php/a", "run /index.php with /a"],
  ["/blog/readme.html", "run /index.php"],
  ["/blo.g/wp-admin/", "run /index.php"],
  ["/a/b/wp-admin/", "run /index.php"],
  ["/wp-admin/network/", "run /wp-admin/network/index.php"],
  ["/wp-admin", "go to /wp-admin/"],
];

test.each(subdirectory)("in a subdirectory network, %s means: %s", async (url, decision) => {
  expect(await decide(url, "subdirectory")).toBe(decision);
});

const subdomain: readonly (readonly [url: string, decision: string])[] = [
  ["/", "run /index.php"],
  ["/wp-admin", "go to /wp-admin/"],
  ["/wp-admin/network/", "run /wp-admin/network/index.php"],
  ["/wp-content/uploads/cat.jpg", "send wp-content/uploads/cat.jpg"],
  ["/blog/wp-admin/", "run /index.php"],
  ["/blog/wp-login.php", "run /index.php"],
];

test.each(subdomain)("in a subdomain network, %s means: %s", async (url, decision) => {
  expect(await decide(url, "subdomain")).toBe(decision);
});

test("the disk is not read for the front page, and once for a permalink", async () => {
  const asked: string[] = [];
  const counting: LookUp = (segments) => {
    asked.push(segments.join("/"));
    return lookUp(segments);
  };
  for (const url of ["/", "/2026/hello/"]) {
    const path = readPath(url);
    if (path !== null) await resolve(path, { multisite: null, host: "site.localhost" }, counting);
  }
  expect(asked).toEqual(["2026/hello"]);
});

test("a symbolic link inside the web root can't expose a file under another name", async () => {
  const linked = async (target: string, url: string) => {
    const path = readPath(url);
    if (path === null) return "malformed";
    const found = { kind: "file" as const, path: `/root/${target}`, segments: target.split("/"), version };
    return (await resolve(path, { multisite: null, host: "site.localhost" }, async () => found)).kind;
  };
  expect(await linked("wp-config.php", "/photo.jpg")).toBe("refuse");
  expect(await linked("plain.php", "/photo.jpg")).toBe("refuse");
  expect(await linked(".env", "/photo.jpg")).toBe("refuse");
  expect(await linked("wp-content/uploads/evil.php", "/wp-content/plugins/run.php")).toBe("refuse");
  expect(await linked("dump.zip", "/images/photo.jpg")).toBe("refuse");
  expect(await linked("images/photo.jpg", "/photo.jpg")).toBe("static");
});
