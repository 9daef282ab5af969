import { describe, expect, test } from "vitest";
import { type Access, access, accessTo } from "./access.ts";
import { readAccessFile } from "./readAccessFile.ts";

const { closed, conditional, open } = access;
const accessBy = (text: string, name = "file.pdf") => accessTo(name, readAccessFile(text));

test.each<[text: string, expected: Access]>([
  ["deny from all", closed],
  ["Deny from all\r\n", closed],
  ["\uFEFFDENY FROM ALL", closed],
  ['  Deny   from  "all"  # a comment', closed],
  ["Deny \\\n from all", closed],
  ["Require all denied", closed],
  ["require ALL Denied", closed],
  ["Order deny,allow\nDeny from all", closed],
  ["Order Allow,Deny\nDeny from all", closed],
  ["Order allow,deny", closed],
  ["Order allow,deny\nAllow from all\nDeny from all", closed],
  ["Order deny,allow\nDeny from all\nAllow from all", open],
  ["Order allow,deny\nAllow from all\nDeny from 192.0.2.1", open],
  ["Deny from 192.0.2.1 198.51.100", open],
  ["Allow from all", open],
  ["Require all granted", open],
  ["Options -Indexes", open],
  ["", open],
  ["# deny from all", open],
  ["RewriteRule ^deny$ from all", open],
  ["RewriteEngine On\nRewriteRule .* - [F,L]", closed],
  ["<IfModule mod_rewrite.c>\nRewriteEngine on\nRewriteRule ^(.*)$ - [L,R=404]\n</IfModule>", closed],
  ["RedirectMatch 403 ^.*$", closed],
  ["RewriteRule .* - [F]", open],
  ["RewriteEngine On\nRewriteRule \\.php$ - [F]", open],
  ["RewriteEngine On\nRewriteRule .* index.php [L]", open],
  ["RewriteEngine On\nRewriteCond %{REQUEST_METHOD} POST\nRewriteRule .* - [F]", open],
  ["RewriteEngine On\nRewriteRule ^public/ - [L]\nRewriteRule .* - [F]", open],
  ["RedirectMatch 301 ^(.*)$ https://example.com$1", open],
  ['Header set X-Note "deny from all"', open],
  ["Order deny,allow\nDeny from all\nAllow from 192.0.2.1", conditional],
  ["Order allow,deny\nAllow from 192.0.2.1", conditional],
  ["AuthType Basic\nRequire valid-user", conditional],
  ["Require ip 192.0.2.1", conditional],
  ["Require all denied\nRequire ip 192.0.2.1", conditional],
  ["Require ip 192.0.2.1\nRequire all granted", open],
  ["Require not ip 192.0.2.1", open],
  ["<RequireAll>\nRequire all granted\nRequire not ip 192.0.2.1\n</RequireAll>", open],
  ["<RequireAll>\nRequire all granted\nRequire ip 192.0.2.1\n</RequireAll>", conditional],
  ["<RequireAll>\nRequire all granted\nRequire all denied\n</RequireAll>", closed],
  ["<RequireAny>\nRequire all denied\n<RequireAll>\nRequire ip ::1\n</RequireAll>\n</RequireAny>", conditional],
  ["<RequireNone>\nRequire all granted\n</RequireNone>", closed],
  ["Require not all granted", closed],
  ["Deny from all\nSatisfy Any\nRequire valid-user", conditional],
  ["Order allow,deny\nAllow from env=own_referrer", open],
  ["Order deny,allow\nDeny from all\nAllow from env=own_referrer", open],
  ["Order allow,deny\nAllow from all\nDeny from env=robot", open],
  ["Require env own_referrer", open],
  ["Require all denied\nRequire expr %{HTTP_REFERER} =~ m#^https://shop#", open],
  ["Require not env robot\nRequire all granted", open],
  ["Require local", conditional],
  ["Deny from all\nSatisfy Any", closed],
  ["Deny from all\nRequire all granted", closed],
  [
    "<IfModule mod_authz_core.c>\nRequire all denied\n</IfModule>\n<IfModule !mod_authz_core.c>\nAllow from all\n</IfModule>",
    closed,
  ],
  ["<IfModule !mod_authz_core.c>\nDeny from all\n</IfModule>", open],
  ["<IfVersion >= 2.4>\nRequire all denied\n</IfVersion>\n<IfVersion < 2.4>\nAllow from all\n</IfVersion>", closed],
  ["<IfVersion < 2.4>\nDeny from all\n</IfVersion>", open],
  ["<IfVersion !< 2.3>\nDeny from all\n</IfVersion>", closed],
  ["<IfVersion 2.4>\nDeny from all\n</IfVersion>", closed],
  ["<Limit GET POST>\nDeny from all\n</Limit>", closed],
  ["<Limit PUT DELETE>\nDeny from all\n</Limit>", open],
  ["<LimitExcept GET POST>\nDeny from all\n</LimitExcept>", open],
  ["<LimitExcept POST>\nDeny from all\n</LimitExcept>", closed],
  ["<If \"%{HTTP_HOST} == 'x'\">\nDeny from all\n</If>", open],
  ["<Directory /x>\n<IfModule x>\nDeny from all\n</IfModule>\n</Directory>\nOptions None", open],
  ["</IfModule>\nDeny from all", closed],
  ["<IfModule x>\nDeny from all", closed],
])("%j gives the access %i", (text, expected) => {
  expect(accessBy(text)).toBe(expected);
});

describe("names", () => {
  test.each<[section: string, name: string, isMeant: boolean]>([
    ['Files "secret.txt"', "secret.txt", true],
    ["Files secret.txt", "SECRET.txt", false],
    ["Files 'a b.txt'", "a b.txt", true],
    ["Files *.php", "a.php", true],
    ["Files *.php", "a.phps", false],
    ["Files a.[pt]?f", "a.pdf", true],
    ["Files a.[!p]?f", "a.pdf", false],
    ["Files a.b*", "axb", false],
    ['Files ~ "\\.pdf$"', "file.pdf", true],
    ["FilesMatch \\.(pdf|zip)$", "file.pdf", true],
    ['FilesMatch "\\.(?i:PDF)$"', "file.pdf", true],
    ['FilesMatch "(?i)\\.PDF$"', "file.pdf", true],
    ["FilesMatch ^.*$", "file.pdf", true],
    ["FilesMatch .", "file.pdf", true],
    ["filesmatch pdf", "file.zip", false],
    ["FilesMatch (", "file.pdf", false],
    ["FilesMatch ^(?!x)", "file.pdf", false],
    ["FilesMatch (a{1000}){1000}", "aaa", false],
    ["FilesMatch (a{9}){9}(b{9}){9}|pdf", "file.pdf", false],
  ])("<%s> means %s: %s", (section, name, isMeant) => {
    const tag = section.split(" ")[0];
    const text = `<${section}>\n<IfModule mod_authz_core.c>\nRequire all denied\n</IfModule>\n</${tag}>`;
    expect(accessBy(text, name)).toBe(isMeant ? closed : open);
  });

  test("can be opened in a closed folder, wherever the rule for them is", () => {
    const text = `<FilesMatch "^(form\\.js|style\\.css)$">
  <IfModule !mod_authz_core.c>
    Allow from all
  </IfModule>
  <IfModule mod_authz_core.c>
    Require all granted
  </IfModule>
</FilesMatch>
<IfModule mod_authz_core.c>
  Require all denied
</IfModule>`;
    expect(["form.js", "style.css", "other.js", "form.jsx"].map((name) => accessBy(text, name))).toEqual([
      ...[open, open],
      ...[closed, closed],
    ]);
  });

  test("the last rule counts", () => {
    const files = (name: string, rule: string) => `<Files ${name}>\n${rule}\n</Files>\n`;
    const text = files("*.pdf", "Deny from all") + files("*", "Allow from all") + files("a.*", "Deny from all");
    expect([accessBy(text, "a.pdf"), accessBy(text, "b.pdf")]).toEqual([closed, open]);
  });

  test("an inner folder's rules replace an outer folder's", () => {
    const [outer, inner] = [readAccessFile("Require all denied"), readAccessFile("Require all granted")];
    expect(accessTo("a", [...outer, ...inner])).toBe(open);
    expect(accessTo("a", [...inner, ...outer])).toBe(closed);
    expect(accessTo("a", [...outer, ...readAccessFile("Allow from all")])).toBe(closed);
  });
});

test("a file with very many sections, nested or unclosed, is read in linear time", () => {
  const blocks = readAccessFile("<Files a>\nDeny from all\n</Files>\n".repeat(8_000));
  expect(blocks).toHaveLength(100);
  expect(readAccessFile(`${"<a>\n".repeat(30_000)}${"</b>\n".repeat(30_000)}`)).toEqual([]);
  expect(readAccessFile(`${"<IfModule x>\n".repeat(50)}Deny from all`)).toHaveLength(1);
  expect(readAccessFile(`Deny ${"a".padEnd(100_000)}${"b".padEnd(100_000)}c`)).toHaveLength(1);
  expect(readAccessFile(`<Files ${"a".padEnd(100_000)}${"b".padEnd(100_000)}c`)).toEqual([]);
  expect(readAccessFile("<".repeat(250_000))).toEqual([]);
  expect(readAccessFile(`Deny ${" ".repeat(250_000)}x`)).toHaveLength(1);
  expect(readAccessFile(`Deny from ${'"'.repeat(250_000)}`)).toHaveLength(1);
  expect(readAccessFile(`${" ".repeat(250_000)}<`)).toEqual([]);
});
