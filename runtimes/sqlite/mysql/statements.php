<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_MySQL_Lexer;

/** Statements that the layer answers itself. */
final class Statements {
	/** Classes in `statements/` by first token. They are asked in this order. */
	private const BY_FIRST_TOKEN = [
		WP_MySQL_Lexer::ALTER_SYMBOL     => [ Alter_Table::class, Database::class, Unsupported::class ],
		WP_MySQL_Lexer::BEGIN_SYMBOL     => [ Transaction::class ],
		WP_MySQL_Lexer::CALL_SYMBOL      => [ Unsupported::class ],
		WP_MySQL_Lexer::CHECKSUM_SYMBOL  => [ Administration::class ],
		WP_MySQL_Lexer::COMMIT_SYMBOL    => [ Transaction::class ],
		WP_MySQL_Lexer::CREATE_SYMBOL    => [ Create_Table::class, Index::class, Database::class, Unsupported::class ],
		WP_MySQL_Lexer::DEALLOCATE_SYMBOL => [ Prepare::class ],
		WP_MySQL_Lexer::DESC_SYMBOL      => [ Explain::class ],
		WP_MySQL_Lexer::DESCRIBE_SYMBOL  => [ Explain::class ],
		WP_MySQL_Lexer::DO_SYMBOL        => [ Administration::class ],
		WP_MySQL_Lexer::DROP_SYMBOL      => [ Index::class, Drop::class ],
		WP_MySQL_Lexer::EXECUTE_SYMBOL   => [ Prepare::class ],
		WP_MySQL_Lexer::EXPLAIN_SYMBOL   => [ Explain::class ],
		WP_MySQL_Lexer::FLUSH_SYMBOL     => [ Administration::class ],
		WP_MySQL_Lexer::GRANT_SYMBOL     => [ Unsupported::class ],
		WP_MySQL_Lexer::KILL_SYMBOL      => [ Administration::class ],
		WP_MySQL_Lexer::LOAD_SYMBOL      => [ Unsupported::class ],
		WP_MySQL_Lexer::LOCK_SYMBOL      => [ Transaction::class ],
		WP_MySQL_Lexer::OPTIMIZE_SYMBOL  => [ Rebuild::class ],
		WP_MySQL_Lexer::PREPARE_SYMBOL   => [ Prepare::class ],
		WP_MySQL_Lexer::RELEASE_SYMBOL   => [ Transaction::class ],
		WP_MySQL_Lexer::RENAME_SYMBOL    => [ Rename_Table::class ],
		WP_MySQL_Lexer::REPAIR_SYMBOL    => [ Rebuild::class ],
		WP_MySQL_Lexer::REVOKE_SYMBOL    => [ Unsupported::class ],
		WP_MySQL_Lexer::ROLLBACK_SYMBOL  => [ Transaction::class ],
		WP_MySQL_Lexer::SAVEPOINT_SYMBOL => [ Transaction::class ],
		WP_MySQL_Lexer::SELECT_SYMBOL    => [ Select_Into::class ],
		WP_MySQL_Lexer::SET_SYMBOL       => [ Set_Variables::class ],
		WP_MySQL_Lexer::SHOW_SYMBOL      => [ Show::class ],
		WP_MySQL_Lexer::START_SYMBOL     => [ Transaction::class ],
		WP_MySQL_Lexer::UNLOCK_SYMBOL    => [ Transaction::class ],
	];

	/** What SHOW shows that the driver answers fully. */
	private const SHOWN_BY_DRIVER = [
		...[ WP_MySQL_Lexer::COLUMNS_SYMBOL, WP_MySQL_Lexer::DATABASES_SYMBOL, WP_MySQL_Lexer::FIELDS_SYMBOL, WP_MySQL_Lexer::INDEX_SYMBOL ],
		...[ WP_MySQL_Lexer::KEYS_SYMBOL, WP_MySQL_Lexer::TABLES_SYMBOL ],
	];

	private Driver $driver;

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
	}

	/** Whether it is a frequent SHOW of the driver's: parsing it twice would take longer than answering it. */
	private function is_shown_by_driver( string $query ): bool {
		$lexer = $this->driver->lexer( $query );
		$lexer->next_token();
		$lexer->next_token();
		if ( WP_MySQL_Lexer::FULL_SYMBOL === $lexer->get_token()?->id ) {
			$lexer->next_token();
		}
		return in_array( $lexer->get_token()?->id, self::SHOWN_BY_DRIVER, true );
	}

	/**
	 * Returns the result, or null if the driver should answer.
	 *
	 * @param int $first The first token.
	 */
	public function answer( int $first, string $query ): ?PDOStatement {
		$classes = self::BY_FIRST_TOKEN[ $first ] ?? [];
		$is_plain = WP_MySQL_Lexer::SELECT_SYMBOL === $first && ( ! str_contains( $query, '@' ) || false === stripos( $query, 'into' ) );
		if ( [] === $classes || $is_plain ) {
			return null;
		}
		if ( WP_MySQL_Lexer::SHOW_SYMBOL === $first && $this->is_shown_by_driver( $query ) ) {
			$this->driver->schema()->settle_collations();
			return null;
		}
		$parser = $this->driver->create_parser( $query );
		$parser->next_query();
		$tree = $parser->get_query_ast();
		$node = null === $tree ? null : $tree->get_first_child_node();
		if ( null !== $node && 'beginWork' !== $node->rule_name ) {
			$node = $node->get_first_child_node();
		}
		// The driver reports texts that are no statement, or more than one.
		if ( null === $node || $parser->next_query() ) {
			return null;
		}
		foreach ( $classes as $class ) {
			require_once __DIR__ . '/statements/' . file_of( $class );
			$result = ( new $class() )->answer( $node, $query, $this->driver );
			if ( null !== $result ) {
				return $result;
			}
		}
		return null;
	}
}
