<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_MySQL_Lexer;
use WP_Parser_Node;

/** Statements that SQLite has no use for: `FLUSH`, `KILL`, `CHECKSUM TABLE`, and `DO`, which evaluates without a result. */
final class Administration implements Statement {
	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		switch ( $node->get_first_descendant_token()->id ) {
			case WP_MySQL_Lexer::CHECKSUM_SYMBOL:
				return $this->checksum( $node, $query, $driver );
			case WP_MySQL_Lexer::KILL_SYMBOL:
				throw Errors::create( $driver, 1094, 'Unknown thread id: ' . $node->get_descendant_tokens()[1]->get_value() );
			case WP_MySQL_Lexer::DO_SYMBOL:
				$list = $node->get_first_child_node();
				$driver->driver_query( 'SELECT ' . substr( $query, $list->get_start(), $list->get_length() ) )->fetchAll();
				return $driver->nothing( $query );
			default:
				return $driver->nothing( $query );
		}
	}

	/** The checksum of the content: the same for the same rows. */
	private function checksum( WP_Parser_Node $node, string $query, Driver $driver ): PDOStatement {
		$rows = [];
		foreach ( $node->get_first_child_node( 'tableRefList' )->get_child_nodes() as $reference ) {
			$name   = $driver->schema()->name_in( $reference );
			$table  = $driver->schema()->find( $name );
			$rows[] = [ $driver->schema()->database() . ".$name", null === $table ? null : $this->checksum_of( $table, $driver ) ];
		}
		return $driver->result( [ 'Table', 'Checksum' ], $rows, $query );
	}

	private function checksum_of( Table $table, Driver $driver ): int {
		$checksum = 0;
		$rows     = $driver->execute_sqlite_query( 'SELECT * FROM ' . Schema::quoted( $table->name ) );
		while ( false !== ( $row = $rows->fetch( \PDO::FETCH_NUM ) ) ) {
			$checksum = ( $checksum + crc32( serialize( $row ) ) ) & 0xffffffff;
		}
		return $checksum;
	}
}
