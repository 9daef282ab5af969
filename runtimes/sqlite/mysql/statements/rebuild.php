<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_Parser_Node;

/** `OPTIMIZE TABLE` and `REPAIR TABLE`: the driver creates the tables again, with triggers of its own. */
final class Rebuild implements Statement {
	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$tables    = array_filter(
			array_map(
				static fn ( WP_Parser_Node $reference ) => $driver->schema()->find( $driver->schema()->name_in( $reference ) ),
				$node->get_first_child_node( 'tableRefList' )->get_child_nodes()
			)
		);
		$sequences = array_map( static fn ( Table $table ) => $table->sequence(), $tables );
		$result    = $driver->driver_query( $query );
		foreach ( $tables as $i => $table ) {
			$table->settle_triggers();
			$table->restore_sequence( $sequences[ $i ] );
		}
		return $result;
	}
}
