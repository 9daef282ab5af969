/**
 * Names of cookies that change no page, so visitors who have only such cookies get cached pages. They are set or read by
 * scripts in the browser: analytics, advertising, consent banners, popups, chats, bot protection.
 *
 * Names are case-sensitive. One `*` stands for any characters, or none. To add a name, check that PHP never reads the cookie to
 * render a page: a cart, a currency, a language, a wish list, recently viewed products or a referral must not be listed.
 */
export const harmlessCookies: readonly string[] = [
  // Google: Analytics, Tag Manager, Ads, Optimize, reCAPTCHA, consent.
  ...["_ga", "_ga_*", "_gid", "_gat*", "_dc_gtm_*", "_gaexp*", "_opt_*", "__utm*", "_gcl_*", "_gac_*", "_gtmeec"],
  ...["__gads", "__gpi", "__gpi_optout", "__eoi", "__gsas", "FPID", "FPLC", "FPAU", "FPGSID", "FPGCL*"],
  ...["_GRECAPTCHA", "FCCDCF", "FCNEC", "FCOEC"],
  // Meta, Microsoft, LinkedIn, Pinterest, TikTok, X, Snap, Reddit, Yandex, Criteo, Taboola, AdRoll, Awin, Quantcast.
  ...["_fbp", "_fbc", "_uetsid", "_uetvid", "_uetsid_exp", "_uetvid_exp", "_uetmsclkid", "_clck", "_clsk", "MUID"],
  ...["li_fat_id", "ln_or", "_pin_unauth", "_pinterest_*", "_derived_epik", "_epik", "_routing_id"],
  ...["_ttp", "_tt_*", "ttclid", "ttcsid*", "_twpid", "_twclid", "_scid", "_scid_r", "_sctr", "_ScCbts", "_rdt_*"],
  ...["_ym_*", "yandexuid", "ymex", "yuidss", "cto_bundle", "cto_bidid", "cto_tld_test", "t_gid", "taboola_*"],
  ...["__adroll*", "__ar_v4", "_aw_j_*", "_aw_m_*", "_aw_sn_*", "__qca", "_cc_id", "panoramaId*"],
  // Matomo, Hotjar, Mixpanel, Segment, Amplitude, PostHog, Heap, Snowplow, FullStory, Mouseflow, Lucky Orange, Crazy Egg.
  ...["_pk_*", "mtm_consent*", "mtm_cookie_consent", "_hj*", "mp_*_mixpanel", "ajs_*", "AMP_*", "amplitude_id*"],
  ...["ph_*_posthog", "_hp2_*", "_sp_id.*", "_sp_ses.*", "fs_uid", "fs_lua", "fs_session", "mf_user"],
  ...["_lo_uid", "_lo_v", "_lorid", "__lotl", "_ce.*", "_ceg.*", "_CEFT", "cebs", "cebsp_", "__insp_*"],
  // Jetpack, Clicky, Parse.ly, Chartbeat, Statcounter, Histats, Adobe, VWO, Optimizely, Piano.
  ...["tk_ai", "tk_qs", "tk_lr", "tk_or", "tk_r3d", "tk_tc", "_jsuid", "_parsely_*", "_cb", "_cb_*", "_chartbeat*"],
  ...["sc_is_visitor_unique", "HstC*", "HstP*", "s_cc", "s_sq", "s_vi", "s_fid", "AMCV_*", "AMCVS_*", "_vwo_*"],
  ...["_conv_v", "_conv_s", "_lfa", "_tccl_*", "_shopify_y"],
  ...["_vis_opt_*", "optimizelyEndUserId", "optimizelySession", "_pcid", "_pctx", "_pcus", "pa_privacy"],
  // WordPress plugins that count visits: Burst, Koko, Slimstat, Post Views Counter, PixelYourSite.
  ...["burst_uid", "_koko_analytics_*", "slimstat_tracking_code", "pvc_visits*", "pys_*", "pysTrafficSource"],
  ...["last_pys*", "_pys*"],
  // Marketing: HubSpot, Klaviyo, Omnisend, Drip, Pardot, Marketo, MailPoet, Mailchimp, ActiveCampaign, Brevo.
  ...["hubspotutk", "__hstc", "__hssc", "__hssrc", "__hs_*", "messagesUtk", "__kla_id", "omnisend*ID", "soundest-*"],
  ...["_drip_client_*", "visitor_id*", "pardot", "_mkto_trk", "mailpoet_page_view", "mailchimp_landing_site"],
  ...["prism_*", "sib_cuid", "soundestID", "_awl"],
  // Order attribution of shops, notices that the browser hides, and payment services' fraud detection.
  ...["sbjs_*", "store_notice*", "__stripe_mid", "__stripe_sid", "__stripe_orig_props"],
  // Consent banners.
  ...["CookieLawInfoConsent", "cookielawinfo-*", "viewed_cookie_policy", "cli_user_preference", "cookieyes-*"],
  ...["cky-*", "wt_consent", "wpl_user_preference", "wpl_viewed_cookie", "CookieConsent", "CookieConsentBulk*"],
  ...["cookieconsent_*", "cookie_consent*", "cc_cookie", "CookieScriptConsent", "OptanonConsent"],
  ...["OptanonAlertBoxClosed", "eupubconsent*", "euconsent*", "didomi_token", "axeptio_*", "tarteaucitron", "klaro"],
  ...["_iub_cs-*", "cmplz_*", "complianz_*", "borlabs-cookie*", "borlabsCookie*", "real_cookie_banner*", "rcb-*"],
  ...["moove_gdpr_popup", "cookie_notice_accepted", "hu-consent", "wpgdprc-*", "gdpr_consent*", "catAccCookies"],
  ...["pressidium_cookie_consent", "osano_consentmanager*", "_evidon_consent_cookie", "notice_behavior"],
  ...["notice_gdpr_prefs", "notice_preferences", "cmapi_*", "TAconsentID", "truste.eu.cookie.*", "consentUUID"],
  ...["wpconsent_preferences", "cookiefirst-consent", "cookiehub"],
  ...["usprivacy", "uc_user_interaction", "ucString", "nsc_bar_*"],
  // Popups and bars: Popup Maker, OptinMonster, Hustle, Sumo, Bloom, Privy, Poptin, Wisepops, WPFront.
  ...["pum-*", "pum_alm_pages_viewed", "om-*", "omSeen*", "omSuccess*", "omGlobal*", "omCountdown*", "_omappv*"],
  ...["hustle_module_*", "inc_optin_*", "__smToken", "__smVID", "__sm*Shown", "etBloomCookie_*", "_privy_*"],
  ...["popupally-cookie-*", "poptin_*", "wisepops*", "wpfront-notification-bar-*"],
  // Chats: Intercom, Crisp, Tawk, Zendesk, Drift, LiveChat, Olark, Smartsupp, Jivo. And sharing buttons.
  ...["intercom-*", "crisp-client*", "twk_*", "TawkConnectionTime", "__tawkuuid", "tawkUUID", "__zlcmid", "drift_*"],
  ...[
    "driftt_*",
    "__lc_cid",
    "__lc_cst",
    "__lc2_*",
    "_okdetect",
    "_oklv",
    "olfsk",
    "wcsid",
    "hblid",
    "ssupp.*",
    "jv_*",
    "uslk_*",
  ],
  ...["__atuvc", "__atuvs", "__stid", "__stidv", "__sharethis_cookie_test__"],
  // Bot protection: CleanTalk reads its cookies when a form is sent, Wordfence when it counts visits.
  ...["ct_checkjs", "ct_timezone", "ct_ps_timestamp", "ct_fkp_timestamp", "ct_pointer_data", "ct_screen_info"],
  ...["ct_has_*", "ct_mouse_moved", "ct_checked_emails", "apbct_*", "wfvt_*", "wordfence_verifiedHuman"],
  // Content delivery networks and load balancers.
  ...["__cf_bm", "_cfuvid", "cf_clearance", "__cfruid", "__cflb", "cf_chl_*", "sucuri_cloudproxy_uuid_*"],
  ...["visid_incap_*", "incap_ses_*", "nlbi_*", "ak_bmsc", "bm_sv", "bm_sz", "bm_mi", "_abck", "datadome", "__ddg*"],
  ...["_pxvid", "_px2", "_px3", "_pxhd", "AWSALB", "AWSALBCORS", "AWSALBTG*", "aws-waf-token"],
  // WordPress: a test of the login form, and settings of the dashboard, which stay after logging out.
  ...["wordpress_test_cookie", "wp-settings-*"],
];
