<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_MySQL_Lexer;

/** Statements that the layer answers itself. */
final class Statements {
	/** Class and file in `statements/` by first token. They are asked in this order. */
	private const BY_FIRST_TOKEN = [
		WP_MySQL_Lexer::SHOW_SYMBOL => [ Show_Triggers::class => 'showTriggers' ],
	];

	private Driver $driver;

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
	}

	/** Returns the result, or null if the driver should answer. */
	public function answer( string $query ): ?PDOStatement {
		$lexer = new WP_MySQL_Lexer( $query );
		$first = $lexer->next_token() ? $lexer->get_token()->id : null;
		$files = self::BY_FIRST_TOKEN[ $first ] ?? [];
		if ( [] === $files ) {
			return null;
		}
		$parser = $this->driver->create_parser( $query );
		$parser->next_query();
		$tree = $parser->get_query_ast();
		$node = null === $tree ? null : $tree->get_first_child_node()?->get_first_child_node();
		// The driver reports texts that are no statement, or more than one.
		if ( null === $node || $parser->next_query() ) {
			return null;
		}
		require_once __DIR__ . '/statement.php';
		foreach ( $files as $class => $file ) {
			require_once __DIR__ . "/statements/$file.php";
			$result = ( new $class() )->answer( $node, $query, $this->driver );
			if ( null !== $result ) {
				return $result;
			}
		}
		return null;
	}
}
