<?php
/**
 * Inserts rows with WordPress until the power is cut, and tells each one that is stored. Parameters: the numbers of the cycle and of the
 * writer, and how SQLite synchronises, or "product".
 */

[ , $cycle, $writer, $synchronous ] = $argv;

$_SERVER['HTTP_HOST'] = 'powercuts.localhost';
define( 'DISABLE_WP_CRON', true );
require '/site/wp-load.php';

if ( 'product' !== $synchronous ) {
	$GLOBALS['@pdo']->exec( "PRAGMA synchronous = $synchronous" );
}
$port = fopen( '/dev/ttyS1', 'w' );
mt_srand( 100 * $cycle + $writer );
for ( $number = 1; ; ++$number ) {
	$id       = sprintf( '%d-%d-%d', $cycle, $writer, $number );
	$is_added = $wpdb->insert(
		$wpdb->postmeta,
		array(
			'post_id'    => 1,
			'meta_key'   => "power_cut_$id",
			// Few bytes, or several pages of the database.
			'meta_value' => str_repeat( "$id ", mt_rand( 0, 3 ) ? 10 : mt_rand( 100, 3000 ) ),
		)
	);
	fwrite( $port, $is_added ? "stored $id\n" : "refused $id: $wpdb->last_error\n" );
	usleep( mt_rand( 0, 400000 ) );
}
