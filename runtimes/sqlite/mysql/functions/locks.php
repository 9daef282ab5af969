<?php
namespace WP_MySQL_Layer;

/**
 * Named locks. A lock is a lock on a file, in the folder that PHP's processes share for sessions. Without such a folder, a
 * lock holds within its own session only. PHP closes the files, and so frees the locks, at a session's end.
 * https://dev.mysql.com/doc/refman/8.0/en/locking-functions.html
 */
final class Lock_Functions extends Function_Set {
	public const VOLATILE  = [ 'get_lock', 'is_free_lock', 'is_used_lock', 'release_all_locks', 'release_lock' ];
	public const ARGUMENTS = [ 'get_lock' => 2, 'release_lock' => 1 ];
	private const LONGEST_NAME = 64;
	/** Names share this many files, because a file can't be removed without a race. */
	private const FILES = 4096;
	private const PAUSE_MICROSECONDS = 20000;

	/** @var array<string, int> How often a lock was taken, by its key. */
	private array $held = [];
	/** @var array<string, resource> Files that are locked, by their paths. */
	private array $files = [];

	/** Returns 1 if the session has got the lock, 0 after the timeout in seconds. A negative timeout means no end. */
	public function get_lock( $name, $timeout ): ?int {
		$key = $this->key( $name );
		if ( null === $key ) {
			return null;
		}
		$seconds = (float) Number::number( $timeout );
		$end     = microtime( true ) + $seconds;
		while ( ! isset( $this->held[ $key ] ) && ! $this->lock( $key ) ) {
			if ( $seconds >= 0 && microtime( true ) >= $end ) {
				return 0;
			}
			usleep( self::PAUSE_MICROSECONDS );
		}
		$this->held[ $key ] = ( $this->held[ $key ] ?? 0 ) + 1;
		return 1;
	}

	/** Returns 1 if the lock was the session's, 0 if it is another's, NULL if nobody has it. */
	public function release_lock( $name ): ?int {
		$key = $this->key( $name );
		if ( null === $key ) {
			return null;
		}
		if ( ! isset( $this->held[ $key ] ) ) {
			return $this->is_free( $key ) ? null : 0;
		}
		--$this->held[ $key ];
		if ( 0 === $this->held[ $key ] ) {
			unset( $this->held[ $key ] );
			$this->close_unused();
		}
		return 1;
	}

	public function release_all_locks(): int {
		$count      = array_sum( $this->held );
		$this->held = [];
		$this->close_unused();
		return $count;
	}

	public function is_free_lock( $name ): ?int {
		$key = $this->key( $name );
		return null === $key ? null : (int) $this->is_free( $key );
	}

	/** Returns the session that has the lock. Another session is only known to be one: its number is 0. */
	public function is_used_lock( $name ): ?int {
		$key = $this->key( $name );
		if ( null === $key || $this->is_free( $key ) ) {
			return null;
		}
		return isset( $this->held[ $key ] ) ? getmypid() : 0;
	}

	private function is_free( string $key ): bool {
		if ( isset( $this->held[ $key ] ) ) {
			return false;
		}
		$is_free = $this->lock( $key );
		$this->close_unused();
		return $is_free;
	}

	private function lock( string $key ): bool {
		$path = self::path( $key );
		if ( null === $path || isset( $this->files[ $path ] ) ) {
			return true;
		}
		$file = @fopen( $path, 'c' );
		if ( false === $file || ! flock( $file, LOCK_EX | LOCK_NB ) ) {
			return false === $file;
		}
		$this->files[ $path ] = $file;
		return true;
	}

	/** Closes the files of no lock that the session has. */
	private function close_unused(): void {
		$used        = array_flip( array_filter( array_map( [ self::class, 'path' ], array_map( 'strval', array_keys( $this->held ) ) ) ) );
		$this->files = array_intersect_key( $this->files, $used );
	}

	private static function path( string $key ): ?string {
		$folder = session_save_path();
		return is_string( $folder ) && '' !== $folder && is_dir( $folder ) ? $folder . '/mysql-lock-' . crc32( $key ) % self::FILES : null;
	}

	private function key( $name ): ?string {
		return '' === $name || mb_strlen( (string) $name ) > self::LONGEST_NAME ? null : Letters::fold( (string) $name );
	}
}
