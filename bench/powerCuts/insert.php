<?php
/**
 * Inserts rows with WordPress until the power is cut, and tells each one that is stored. Parameters: the numbers of the cycle and of the
 * writer, and how SQLite synchronises, or "product". The first writer first tells what the database contains, as the site reads it, and
 * whether it is undamaged. In cycle 0, that is all.
 */

[ , $cycle, $writer, $synchronous ] = $argv;

$_SERVER['HTTP_HOST'] = 'powercuts.localhost';
// Without plugins and themes, which would take most of the time here. The database is opened as for a page.
define( 'SHORTINIT', true );
require '/site/wp-load.php';

$port   = fopen( '/dev/ttyS1', 'w' );
$sqlite = $GLOBALS['@pdo'];
if ( 'product' !== $synchronous ) {
	$sqlite->exec( "PRAGMA synchronous = $synchronous" );
}

if ( '1' === $writer ) {
	$rows = $wpdb->get_results( "SELECT meta_key, meta_value FROM $wpdb->postmeta WHERE meta_key LIKE 'power_cut_%' ORDER BY meta_id" );
	foreach ( $rows as $row ) {
		$id = substr( $row->meta_key, strlen( 'power_cut_' ) );
		// Each value consists of its row's name.
		$is_whole = '' === str_replace( "$id ", '', $row->meta_value );
		fwrite( $port, ( $is_whole ? 'found' : 'changed' ) . " $id\n" );
	}
	foreach ( $sqlite->query( 'PRAGMA integrity_check' )->fetchAll( PDO::FETCH_COLUMN ) as $line ) {
		fwrite( $port, "integrity $line\n" );
	}
	$level   = array( 'OFF', 'NORMAL', 'FULL', 'EXTRA' )[ $sqlite->query( 'PRAGMA synchronous' )->fetchColumn() ];
	$journal = $sqlite->query( 'PRAGMA journal_mode' )->fetchColumn();
	fwrite( $port, "settings journal_mode=$journal, synchronous=$level\n" );
	fwrite( $port, "checked rows\n" );
}

mt_srand( 100 * $cycle + $writer );
for ( $number = 1; '0' !== $cycle; ++$number ) {
	$id       = "$cycle-$writer-$number";
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
