<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Applies the rules to a parsed statement. It looks at the tokens first, and at the tree only if a rule applies: most
 * statements of WordPress need no rewriting.
 */
final class Rewriter {
	/** Lengths of the names of functions that may be called without parentheses, such as CURRENT_DATE. */
	private const LENGTHS_OF_BARE_NAMES = [
		8  => true,
		12 => true,
		13 => true,
		17 => true,
	];

	private const NAMES = [
		WP_MySQL_Lexer::IDENTIFIER          => true,
		WP_MySQL_Lexer::BACK_TICK_QUOTED_ID => true,
	];

	/** The shortest name of a database that rules ask for. */
	private const SCHEMA_LENGTH = 18;

	private Driver $driver;
	private Functions $functions;
	/** @var string[] The rules in the order of the list. */
	private array $classes;
	/** @var array<int, int[]> Positions in the list by token. */
	private array $by_token = [];
	/** @var array<int, int[]> Positions in the list by first token. */
	private array $by_first_token = [];
	/** @var array<int, int[]> Positions in the list by the first token of arguments. */
	private array $by_argument = [];
	/** @var array<int, int> Numbers of function calls by position in the list. */
	private array $by_calls = [];
	/** @var array<int, int> Numbers of tokens by position in the list. */
	private array $by_length = [];
	/** @var array<string, int[]> Positions in the list by database. */
	private array $by_schema = [];
	/** Positions in the list of the rules about texts, as keys. */
	private array $about_texts = [];
	/** Positions in the list of the rules about digits after the point, as keys. */
	private array $about_digits = [];
	/** @var array<int, true> Tokens whose positions decide about those. */
	private array $marks;
	/** @var array<int, mixed> Tokens that may make a rule apply, by themselves or by what precedes them. */
	private array $telling;
	private Text_Triggers $triggers;
	private Digit_Triggers $digit_triggers;
	/** @var array<string, int[]> Positions in the list by function. */
	private array $by_function = [];
	/** @var array<int, Rule> Loaded rules by position in the list. */
	private array $loaded = [];

	public function __construct( Driver $driver, Functions $functions ) {
		$this->driver    = $driver;
		$this->functions = $functions;
		$list            = require __DIR__ . '/rules.php';
		$this->classes   = array_keys( $list );
		$this->marks     = array_fill_keys( Text_Triggers::MARKS, true );
		$this->triggers  = new Text_Triggers( $driver->columns() );
		$this->digit_triggers = new Digit_Triggers( $driver->columns() );
		foreach ( array_values( $list ) as $position => $rule ) {
			foreach ( $rule['tokens'] ?? [] as $token ) {
				$this->by_token[ $token ][] = $position;
			}
			foreach ( $rule['first'] ?? [] as $token ) {
				$this->by_first_token[ $token ][] = $position;
			}
			foreach ( $rule['arguments'] ?? [] as $token ) {
				$this->by_argument[ $token ][] = $position;
			}
			if ( isset( $rule['calls'] ) ) {
				$this->by_calls[ $position ] = $rule['calls'];
			}
			if ( isset( $rule['length'] ) ) {
				$this->by_length[ $position ] = $rule['length'];
			}
			if ( isset( $rule['texts'] ) ) {
				$this->about_texts[ $position ] = true;
			}
			if ( isset( $rule['digits'] ) ) {
				$this->about_digits[ $position ] = true;
			}
			foreach ( $rule['functions'] ?? [] as $name ) {
				$this->by_function[ $name ][] = $position;
			}
			if ( isset( $rule['schema'] ) ) {
				$this->by_schema[ $rule['schema'] ][] = $position;
			}
		}
		$this->telling = $this->marks + $this->by_token + $this->by_argument
			+ [ WP_MySQL_Lexer::OPEN_PAR_SYMBOL => true, WP_MySQL_Lexer::DOT_SYMBOL => true ];
	}

	/**
	 * Returns the statement as SQLite should get it.
	 *
	 * @param WP_MySQL_Token[] $tokens The statement's tokens.
	 * @param string           $query  Its text.
	 */
	public function rewrite( WP_Parser_Node $statement, array $tokens, string $query ): WP_Parser_Node {
		$positions = $this->applicable( $tokens );
		$rewritten = [] === $positions ? $statement : $this->apply( $positions, $statement );
		if ( Letters::beyond_ascii( $query ) && self::has_other_names( $tokens ) ) {
			Tree::quote_names( $rewritten );
		}
		return $rewritten;
	}

	/** @param array<int, mixed> $positions Positions of rules as keys. */
	private function apply( array $positions, WP_Parser_Node $statement ): WP_Parser_Node {
		ksort( $positions );
		$by_node = [];
		foreach ( $positions as $position => $_ ) {
			$rule = $this->load( $position );
			foreach ( $rule->nodes() as $name ) {
				$by_node[ $name ][] = $rule;
			}
		}
		return $this->walk( $statement, $by_node, new Rewriting( $this->driver, $this->functions ) );
	}

	/**
	 * Returns the positions of the rules that may apply as keys, and registers the functions that are called.
	 *
	 * @param WP_MySQL_Token[] $tokens
	 */
	private function applicable( array $tokens ): array {
		$positions = array_flip( $this->by_first_token[ $tokens[0]->id ] ?? [] );
		$marks     = [];
		$calls     = 0;
		foreach ( $tokens as $position => $token ) {
			$id = $token->id;
			if ( isset( self::LENGTHS_OF_BARE_NAMES[ $token->length ] ) ) {
				$positions += array_flip( $this->by_function[ strtolower( $token->get_bytes() ) ] ?? [] );
			}
			if ( ! isset( $this->telling[ $id ] ) ) {
				continue;
			}
			if ( isset( $this->marks[ $id ] ) ) {
				$marks[] = $position;
			}
			if ( isset( $this->by_token[ $id ] ) ) {
				$positions += array_flip( $this->by_token[ $id ] );
			}
			if ( 0 === $position ) {
				continue;
			}
			$previous = $tokens[ $position - 1 ];
			if ( isset( $this->by_argument[ $id ] ) && WP_MySQL_Lexer::OPEN_PAR_SYMBOL === $previous->id ) {
				$positions += array_flip( $this->by_argument[ $id ] );
			}
			if ( WP_MySQL_Lexer::OPEN_PAR_SYMBOL === $id ) {
				$name = strtolower( $previous->get_value() );
				++$calls;
				$this->functions->register( $name );
				if ( isset( $this->by_function[ $name ] ) ) {
					$positions += array_flip( $this->by_function[ $name ] );
				}
			}
			// A long name: not that of a table, which most columns are named with.
			if ( WP_MySQL_Lexer::DOT_SYMBOL === $id && $previous->length >= self::SCHEMA_LENGTH ) {
				$positions += array_flip( $this->by_schema[ strtolower( $previous->get_value() ) ] ?? [] );
			}
		}
		$positions += self::reached( $this->by_calls, $calls ) + self::reached( $this->by_length, count( $tokens ) );
		$positions += $this->digit_triggers->apply( $tokens ) ? $this->about_digits : [];
		return $this->triggers->apply( $tokens, $marks ) ? $positions + $this->about_texts : $positions;
	}

	/** Returns the positions in the list whose least number is reached, as keys. @param array<int, int> $least */
	private static function reached( array $least, int $number ): array {
		$positions = [];
		foreach ( $least as $position => $minimum ) {
			if ( $number >= $minimum ) {
				$positions[ $position ] = true;
			}
		}
		return $positions;
	}

	/** @param WP_MySQL_Token[] $tokens */
	private static function has_other_names( array $tokens ): bool {
		foreach ( $tokens as $token ) {
			if ( isset( self::NAMES[ $token->id ] ) && Letters::beyond_ascii( $token->get_bytes() ) ) {
				return true;
			}
		}
		return false;
	}

	private function load( int $position ): Rule {
		if ( ! isset( $this->loaded[ $position ] ) ) {
			$class = $this->classes[ $position ];
			require_once __DIR__ . '/rules/' . file_of( $class );
			$this->loaded[ $position ] = new $class();
		}
		return $this->loaded[ $position ];
	}

	/**
	 * Rewrites the nodes below, then the node itself.
	 *
	 * @param array<string, Rule[]> $rules Rules by the name of a node.
	 */
	private function walk( WP_Parser_Node $node, array $rules, Rewriting $rewriting ): WP_Parser_Node {
		if ( 'bitExpr' === $node->rule_name || 'expr' === $node->rule_name ) {
			Grouping::group( $node );
		}
		$children = $node->get_children();
		$changed  = false;
		$rewriting->above[] = $node;
		$is_query           = isset( Scope::QUERIES[ $node->rule_name ] );
		if ( $is_query ) {
			$rewriting->queries[] = $node;
		}
		foreach ( $children as $i => $child ) {
			if ( $child instanceof WP_Parser_Node ) {
				$new = $this->walk( $child, $rules, $rewriting );
				if ( $new !== $child ) {
					$children[ $i ] = $new;
					$changed        = true;
				}
			}
		}
		array_pop( $rewriting->above );
		if ( $is_query ) {
			array_pop( $rewriting->queries );
		}
		if ( $changed ) {
			Tree::set_children( $node, $children );
		}
		foreach ( $rules[ $node->rule_name ] ?? [] as $rule ) {
			$new = $rule->rewrite( $node, $rewriting );
			if ( null !== $new ) {
				return $new;
			}
		}
		return $node;
	}
}
