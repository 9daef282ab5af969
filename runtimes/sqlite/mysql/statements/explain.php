<?php
namespace WP_MySQL_Layer;

use PDO;
use PDOStatement;
use WP_MySQL_Lexer;
use WP_Parser_Node;

/** `EXPLAIN` of a statement: SQLite's plan in MySQL's form. */
final class Explain implements Statement {
	private const COLUMNS = [
		...[ 'id', 'select_type', 'table', 'partitions', 'type', 'possible_keys', 'key', 'key_len', 'ref', 'rows', 'filtered' ],
		'Extra',
	];

	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$explain = $node->get_first_child_node( 'explainStatement' );
		if ( null === $explain ) {
			return $this->column( $node, $driver );
		}
		$explained = $explain->get_first_child_node( 'explainableStatement' );
		$select    = $explained->get_first_child_node( 'selectStatement' );
		$rows      = null === $select
			? [ $this->row( strtoupper( $explained->get_first_descendant_token()->get_value() ), null, 'ALL', null, '' ) ]
			: $this->plan( substr( $query, $select->get_start(), $select->get_length() ), $driver );
		if ( $explain->get_first_descendant_token( WP_MySQL_Lexer::FORMAT_SYMBOL ) ) {
			return $driver->result( [ 'EXPLAIN' ], [ [ $this->document( $rows ) ] ], $query );
		}
		return $driver->result( self::COLUMNS, $rows, $query );
	}

	/** `DESCRIBE t c`, of which the driver answers only the first part. */
	private function column( WP_Parser_Node $node, Driver $driver ): ?PDOStatement {
		$describe = $node->get_first_child_node( 'describeStatement' );
		$column   = null === $describe ? null : $describe->get_first_child_node( 'columnRef' );
		if ( null === $column ) {
			return null;
		}
		$table = $driver->schema()->get( $describe->get_first_child_node( 'tableRef' ) );
		$name  = addcslashes( Schema::last_name_of( $column ), "\\'%_" );
		return $driver->driver_query( 'SHOW COLUMNS FROM ' . Schema::quoted( $table->name ) . " LIKE '$name'" );
	}

	/** Returns a row for each table that SQLite reads. */
	private function plan( string $select, Driver $driver ): array {
		$driver->driver_query( $select );
		$queries = $driver->get_last_sqlite_queries();
		$last    = end( $queries );
		$steps   = $driver->execute_sqlite_query( 'EXPLAIN QUERY PLAN ' . $last['sql'], $last['params'] )->fetchAll( PDO::FETCH_ASSOC );
		$extra   = implode( '; ', array_unique( array_filter( array_map( [ self::class, 'extra' ], array_column( $steps, 'detail' ) ) ) ) );
		$rows    = [];
		foreach ( $steps as $step ) {
			$words = explode( ' ', $step['detail'] );
			if ( in_array( $words[0], [ 'SCAN', 'SEARCH' ], true ) && 'CONSTANT' !== $words[1] ) {
				$rows[] = $this->row( 'SIMPLE', $words[1], self::access( $step['detail'] ), self::key( $words ), [] === $rows ? $extra : '' );
			}
		}
		return [] === $rows ? [ $this->row( 'SIMPLE', null, null, null, 'No tables used' ) ] : $rows;
	}

	private static function access( string $detail ): string {
		if ( str_starts_with( $detail, 'SCAN' ) ) {
			return str_contains( $detail, ' INDEX ' ) ? 'index' : 'ALL';
		}
		if ( str_contains( $detail, 'PRIMARY KEY' ) ) {
			return 'const';
		}
		return str_contains( $detail, '>' ) || str_contains( $detail, '<' ) ? 'range' : 'ref';
	}

	/** @param string[] $words */
	private static function key( array $words ): ?string {
		$at = array_search( 'INDEX', $words, true );
		if ( false === $at ) {
			return in_array( 'PRIMARY', $words, true ) ? 'PRIMARY' : null;
		}
		$name = $words[ $at + 1 ] ?? '';
		return str_contains( $name, '__' ) ? substr( $name, strrpos( $name, '__' ) + 2 ) : 'PRIMARY';
	}

	private static function extra( string $detail ): string {
		return [
			'USE TEMP B-TREE FOR ORDER BY' => 'Using filesort',
			'USE TEMP B-TREE FOR GROUP BY' => 'Using temporary',
			'USE TEMP B-TREE FOR DISTINCT' => 'Using temporary',
		][ $detail ] ?? '';
	}

	private function row( string $kind, ?string $table, ?string $access, ?string $key, string $extra ): array {
		return [ 1, $kind, $table, null, $access, $key, $key, null, null, null, null, '' === $extra ? null : $extra ];
	}

	private function document( array $rows ): string {
		$tables = array_map(
			static fn ( array $row ) => [
				'table' => array_filter(
					[
						'table_name'  => $row[2],
						'access_type' => $row[4],
						'key'         => $row[6],
					]
				),
			],
			$rows
		);
		return json_encode( [ 'query_block' => [ 'select_id' => 1, 'nested_loop' => $tables ] ], JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES );
	}
}
