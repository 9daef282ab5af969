<?php
/**
 * Names of what changes all the time and is part of no public page: sessions, logs, statistics, queues, orders. `*` stands for
 * any characters. Everything that is not listed here counts as visible, so a missing name only costs speed.
 */

function sitewright_is_ignored( array $patterns, string $name ): bool {
	foreach ( $patterns as $pattern ) {
		if ( fnmatch( $pattern, $name ) ) {
			return true;
		}
	}
	return false;
}

/** Post metadata that changes without an edit and is never shown. */
const SITEWRIGHT_IGNORED_META = array(
	'_edit_lock', '_edit_last', '_encloseme', '_pingme', '_wp_old_slug', '_wp_old_date', '_wp_trash_meta_*',
	'_wp_desired_post_slug', '_oembed_*',
);

/** Options that WordPress and plugins change by themselves. */
const SITEWRIGHT_IGNORED_OPTIONS = array(
	'sitewright_*', '_transient_*', '_site_transient_*', 'cron', 'doing_cron', 'rewrite_rules', 'recently_*', 'auto_*', 'user_count*',
	'large_user_count*', 'fresh_site', 'db_*', '*_version', 'can_compress_scripts', 'uninstall_plugins', 'nonce_*', 'auth_*',
	'*.lock', '*_lock', '*_queue*', '*_last_*', '*_last', '*_log', '*_logs', 'finished_splitting_*', 'finished_updating_*',
	'delete_blog_hash', 'adminhash', 'new_admin_email', 'recovery_keys', 'recovery_mode*', 'wp_force_deactivated_*',
	'https_detection_errors', 'theme_switched*', 'dismissed_*', '*_cron', '*_stat', '*_stats', '*_statistics', '*_counter',
	'*_heartbeat', '*_nonce', '*_lastrun', '*_telemetry', '*_activation_redirect', 'action_scheduler_*', 'as_*', 'akismet_*',
	'itsec_*', 'limit_login_*', 'wordfence_*', 'wf_*', 'jpsq_*', 'jetpack_sync_*', 'jetpack_last_*', 'jetpack_next_*',
	'jetpack_callables*', 'jetpack_constants*', 'jetpack_connection_*', 'jetpack_nonce*', 'jetpack_secrets',
	'woocommerce_admin_*', 'woocommerce_task_list_*', 'woocommerce_tracker_*', 'woocommerce_queue_*',
	'woocommerce_marketplace_*', 'woocommerce_maxmind_*', 'woocommerce_merchant_*', 'woocommerce_inbox_*',
	'woocommerce_onboarding_*', 'woocommerce_helper_*', 'woocommerce_meta_box_errors', 'woocommerce_refund_order_*',
	'woocommerce_schema_*', 'wc_admin_*', 'wc_remote_*', 'wc_blocks_*', 'wc_pending_*', 'wc_background_*',
);

/** User metadata that public pages do not show. */
const SITEWRIGHT_IGNORED_USER_META = array(
	'session_tokens', '*session*', 'rich_editing', 'syntax_highlighting', 'comment_shortcuts', 'admin_color', 'use_ssl',
	'show_admin_bar_front', 'locale', 'dismissed_wp_pointers', '*dismiss*', '*notice*', '*pointer*', 'show_welcome_panel',
	'default_password_nag', 'community-events-location', 'enable_custom_fields', '_application_passwords', '_new_email',
	'_password_reset*', '*user-settings*', '*persisted_preferences', '*dashboard_quick_press*', '*nav_menu_recently*',
	'meta-box*', 'metabox*', 'closedpostboxes*', 'screen_layout*', '*columnshidden', '*columns_hidden', '*_per_page',
	'*last_login*', '*last_activity*', '*last_active*', '*last_seen*', '*last_visit*', '*_nonce', '*_token', '*_tracks_*',
	'last_update', 'paying_customer', '_order_count', '_money_spent', '_last_order', 'billing_*', 'shipping_*',
	'_woocommerce_*', 'wc_*', 'wf*',
);

/** Post types without an address of their own that pages do not show. */
const SITEWRIGHT_IGNORED_POST_TYPES = array(
	'revision', 'customize_changeset', 'oembed_cache', 'user_request', 'shop_order*', 'shop_coupon', 'shop_subscription',
	'shop_webhook', 'scheduled-action', 'wc_user_membership', 'wc_order*', 'wc_booking', 'edd_payment', 'edd_discount',
	'flamingo_*', 'feedback', 'nf_sub', 'lp_order', 'sfwd-transactions', 'llms_order', 'give_payment', 'mailpoet_*',
	'patterns_ai_data', '*_log', '*-log', '*_logs', '*_submission', '*-submission', '*_submissions', '*_lead', '*_leads',
	'*_payment', '*_payments', '*_order', '*-order', '*_orders', '*_transaction', '*_transactions', '*_email', '*_emails',
	'*_queue', '*_stats',
);

/** Tables, without their prefix. Copies that plugins update together with posts are listed, too. */
const SITEWRIGHT_IGNORED_TABLES = array(
	'signups', 'registration_log', 'actionscheduler_*', 'woocommerce_sessions', 'woocommerce_log', 'woocommerce_api_keys',
	'woocommerce_downloadable_*', 'woocommerce_order_*', 'woocommerce_payment_token*', 'wc_orders', 'wc_orders_*',
	'wc_order_*', 'wc_admin_*', 'wc_customer_lookup', 'wc_download_log', 'wc_rate_limits', 'wc_reserved_stock', 'wc_webhooks',
	'wc_product_meta_lookup', 'wc_product_attributes_lookup', 'wc_category_lookup', 'wf*', 'itsec_*', 'aiowps_*',
	'limit_login_*', 'statistics_*', 'slim_*', 'matomo_*', 'burst_*', 'independent_analytics_*', 'koko_analytics_*',
	'post_views', 'popularposts*', 'ahc_*', 'db7_forms', 'cf7dbplus*', 'gf_form_view', 'gf_draft*', 'wpforms_entr*',
	'wpforms_log*', 'wpforms_task*', 'wpforms_payment*', 'fluentform_submission*', 'fluentform_entry*', 'fluentform_log*',
	'fluentform_order*', 'fluentform_transaction*', 'mailpoet_statistics_*', 'mailpoet_sending_*', 'mailpoet_scheduled_*',
	'mailpoet_subscriber*', 'mailpoet_user_*', 'newsletter_stats', 'newsletter_sent', 'newsletter_user_logs', 'e_events',
	'e_submissions*', 'e_notes*', 'yoast_indexable*', 'yoast_migrations', 'yoast_primary_term', 'yoast_seo_*',
	'rank_math_analytics_*', 'rank_math_internal_*', 'aioseo_cache', 'aioseo_notifications', 'aioseo_crawl_cleanup_*',
	'redirection_logs', 'redirection_404', 'jetpack_sync_queue', 'ewwwio_*', 'smush_dir_images', 'imagify_*',
	'litespeed_avatar', 'litespeed_crawler*', 'litespeed_img_*', 'litespeed_url*', 'wpr_*', 'updraft_*', 'cmplz_statistics',
	'cmplz_dnsmpd', 'simple_history*', 'wsal_*', 'aryo_activity_log', 'stream', 'stream_meta', '*session', '*sessions',
	'*_log', 'log', '*_logs', 'logs', '*_logging', '*_stat', '*_stats', 'stats', '*_statistics', 'statistics', '*_analytics',
	'analytics', '*_visit', '*_visits', 'visits', '*_visitor', '*_visitors', 'visitors', '*_views', 'views', '*_pageviews',
	'pageviews', '*_hit', '*_hits', 'hits', '*_clicks', 'clicks', '*_impressions', '*_traffic', '*_tracking', '*_queue',
	'queue', '*_queues', '*_lock', '*_locks', 'locks', '*_cache', 'cache', '*_nonces', '*_tokens', '*_throttle', '*_attempts',
	'*_lockouts', '*_bans', '*_blacklist', '*_blocklist', '*_submissions', 'submissions', '*_leads', 'leads', '*_audit',
	'*_audit_trail', '*_404', '*_404s', '*_tmp', '*_temp',
);
