<?php
/** Tells what the database contains, as the site reads it, and whether it is undamaged. */

$_SERVER['HTTP_HOST'] = 'powercuts.localhost';
define( 'DISABLE_WP_CRON', true );
require '/site/wp-load.php';

$port = fopen( '/dev/ttyS1', 'w' );
$rows = $wpdb->get_results( "SELECT meta_key, meta_value FROM $wpdb->postmeta WHERE meta_key LIKE 'power_cut_%' ORDER BY meta_id" );
foreach ( $rows as $row ) {
	$id = substr( $row->meta_key, strlen( 'power_cut_' ) );
	// Each value consists of its row's number.
	$is_whole = '' === str_replace( "$id ", '', $row->meta_value );
	fwrite( $port, ( $is_whole ? 'found' : 'changed' ) . " $id\n" );
}
foreach ( $GLOBALS['@pdo']->query( 'PRAGMA integrity_check' )->fetchAll( PDO::FETCH_COLUMN ) as $line ) {
	fwrite( $port, "integrity $line\n" );
}
$synchronous = $GLOBALS['@pdo']->query( 'PRAGMA synchronous' )->fetchColumn();
$journal     = $GLOBALS['@pdo']->query( 'PRAGMA journal_mode' )->fetchColumn();
fwrite( $port, "settings synchronous $synchronous, journal $journal\n" );
fwrite( $port, "checked\n" );
