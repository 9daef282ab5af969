import { describe, expect, test } from "vitest";
import { isAnonymous } from "./cookies.ts";

describe("a visitor is anonymous", () => {
  test.each([
    undefined,
    "",
    ";",
    "_ga=GA1.2.3.4",
    "_ga_ABCDEF123=GS1.1; _gid=x; _gat_UA=1",
    "_fbp=fb.1; _fbc=fb.2",
    "__utma=1; __utmz=2",
    "_pk_id.1.abcd=x; _pk_ses.1.abcd=1",
    "_hjSessionUser_123=x",
    "hubspotutk=x; __hstc=y",
    "sbjs_current=typ%3Dtypein; sbjs_first_add=x",
    "CookieConsent={stamp:1}; OptanonConsent=x; cmplz_marketing=deny",
    "wordpress_test_cookie=WP%20Cookie%20check",
    "  _ga=1 ;  _gid=2  ",
    "_ga",
  ])("with %j", (cookie) => {
    expect(isAnonymous(cookie)).toBe(true);
  });
});

describe("a visitor may be known to the site", () => {
  test.each([
    "wordpress_logged_in_1=x",
    "wordpress_sec_1=x",
    "wp-postpass_1=x",
    "comment_author_1=Ada",
    "woocommerce_items_in_cart=1",
    "wp_woocommerce_session_1=x",
    "edd_items_in_cart=1",
    "PHPSESSID=x",
    "_ga=1; anything=x",
    "anything=x; _ga=1",
    "_gas=1",
    "x_ga=1",
    "_GA=1",
    "__proto__=1",
    "=x; a=b",
  ])("with %j", (cookie) => {
    expect(isAnonymous(cookie)).toBe(false);
  });
});
