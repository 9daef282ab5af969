<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_Parser_Node;

/** `OPTIMIZE TABLE` and `REPAIR TABLE`: the driver creates the tables again, with triggers of its own. */
final class Rebuild implements Statement {
	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$result = $driver->driver_query( $query );
		foreach ( $node->get_first_child_node( 'tableRefList' )->get_child_nodes() as $reference ) {
			$table = $driver->schema()->find( $driver->schema()->name_in( $reference ) );
			if ( null !== $table ) {
				$table->settle_triggers();
			}
		}
		return $result;
	}
}
