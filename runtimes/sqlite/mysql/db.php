<?php
/**
 * Opens the database for WordPress. Takes the place of the driver's own `wp-includes/sqlite/db.php` and does the same,
 * but with the layer.
 */

require_once __DIR__ . '/../database/version.php';
require_once __DIR__ . '/../../constants.php';

if ( 'sqlite' !== DB_ENGINE ) {
	return;
}

require_once __DIR__ . '/../database/load.php';
require_once __DIR__ . '/class-wp-sqlite-db.php';
require_once __DIR__ . '/install-functions.php';
require_once __DIR__ . '/../../mysql/load.php';
require_once __DIR__ . '/../../mysql/wpdb.php';

$GLOBALS['wpdb'] = new WP_MySQL_Layer\WPDB( defined( 'DB_NAME' ) ? DB_NAME : '' );

require_once __DIR__ . '/../../integrations/query-monitor/boot.php';
