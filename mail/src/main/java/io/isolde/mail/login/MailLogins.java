// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.login;

import io.isolde.mail.connection.ClientNetwork;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Who may log in. Guessing is bounded for each user and for each address of clients. For all
 * threads that may wait.
 */
public final class MailLogins {

  /** Guesses are remembered of so many users, and of so many addresses. */
  private static final int MAX_NAMES = 10_000;

  /** People mistype a password; a program that guesses needs many more. */
  static final int MAX_FREE_FAILURES_OF_USER = 5;

  /** Behind an address there may be many people. */
  static final int MAX_FREE_FAILURES_OF_ADDRESS = 20;

  /** Hashes cost processor time, of which the rest of the server needs some. */
  private static final int MAX_HASHES_AT_ONCE = 2;

  private static final long MAX_WAIT_MILLIS = 5_000;

  /** Clients log in again and again; so long they need no hash for the same password. */
  private static final long REMEMBERED_MILLIS = 60_000;

  private static final int MAX_REMEMBERED = 10_000;
  private static final int MAX_PASSWORD_CHARS = 256;

  /** Of so many pairs of a user and an address it is known that the user has logged in there. */
  private static final int MAX_HOMES = 10_000;

  static final long HOME_MILLIS = 24 * 3_600_000;

  /** What a check says. */
  public enum Verdict {
    /** The password is right. */
    WELCOME,
    /** There is no such user, or the password is wrong. */
    WRONG,
    /** Nobody has looked at the password; the client may try later. */
    LATER
  }

  private final MailUsers users;
  private final String domain;
  private final LongSupplier nowMillis;
  private final Semaphore hashes = new Semaphore(MAX_HASHES_AT_ONCE, true);
  private final SecretKeySpec key;

  /** For users who do not exist, so that they take as long as the others. */
  private final String nobodysHash;

  private final GuessLimit ofUsers = new GuessLimit(MAX_NAMES, MAX_FREE_FAILURES_OF_USER);

  /** A right password changes nothing here: who guesses may have an account, too. */
  private final GuessLimit ofAddresses = new GuessLimit(MAX_NAMES, MAX_FREE_FAILURES_OF_ADDRESS);

  /** Until when a user and a password are known to be right, by their HMAC; oldest first. */
  private final Map<String, Long> remembered = new LinkedHashMap<>();

  /**
   * Until when an address counts as one of a user's own, by the user and the address; the one whose
   * login is longest ago is first. There others can't lock the user out.
   */
  private final Map<String, Long> homes = new LinkedHashMap<>();

  /**
   * Logins of some users.
   *
   * @param domain of users who leave it out
   * @param nowMillis a clock that never goes back
   * @param iterations of the hash that stands for users who do not exist
   */
  public MailLogins(MailUsers users, String domain, LongSupplier nowMillis, int iterations) {
    this.users = users;
    this.domain = domain.toLowerCase(Locale.ROOT);
    this.nowMillis = nowMillis;
    byte[] secret = new byte[32];
    new SecureRandom().nextBytes(secret);
    key = new SecretKeySpec(secret, "HmacSHA256");
    nobodysHash = PasswordHash.ofNobody(iterations);
  }

  /** Logins by the clock of this machine. */
  public static MailLogins of(MailUsers users, String domain, int iterations) {
    return new MailLogins(users, domain, () -> System.nanoTime() / 1_000_000, iterations);
  }

  /** The name of a user as the store has it: in lower case, with the domain. */
  public String address(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.contains("@") ? lower : lower + "@" + domain;
  }

  /** Whether there is such a user; the name may lack the domain. */
  public boolean isUser(String name) {
    return users.exists(address(name));
  }

  /** The domain whose users these are. */
  public String domain() {
    return domain;
  }

  /**
   * Checks a password. Waits for the database and for a hash, so no thread of the network may call
   * it.
   */
  public Verdict check(String name, String password, InetAddress client) {
    String address = address(name);
    String from = ClientNetwork.of(client).getHostAddress();
    if (!mayTry(address, from)) {
      return Verdict.LATER;
    }
    if (password.length() > MAX_PASSWORD_CHARS) {
      return judge(address, from, "", false);
    }
    Optional<String> hash = users.passwordHash(address);
    String fingerprint = fingerprint(address, password, hash.orElse(""));
    if (hash.isPresent() && isRemembered(fingerprint)) {
      return Verdict.WELCOME;
    }
    try {
      if (!hashes.tryAcquire(MAX_WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
        return Verdict.LATER;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Verdict.LATER;
    }
    try {
      // Others of this name may have failed meanwhile: who guesses may come with many connections.
      if (!mayTry(address, from)) {
        return Verdict.LATER;
      }
      boolean isRight = PasswordHash.matches(password, hash.orElse(nobodysHash));
      return judge(address, from, fingerprint, isRight && hash.isPresent());
    } finally {
      hashes.release();
    }
  }

  private synchronized boolean mayTry(String address, String from) {
    long now = nowMillis.getAsLong();
    return ofAddresses.mayTry(from, now)
        && (ofUsers.mayTry(address, now) || isHome(address, from, now));
  }

  private boolean isHome(String address, String from, long now) {
    Long until = homes.get(home(address, from));
    return until != null && now < until;
  }

  private static String home(String address, String from) {
    return address + "\0" + from;
  }

  private synchronized Verdict judge(
      String address, String from, String fingerprint, boolean isRight) {
    long now = nowMillis.getAsLong();
    if (!isRight) {
      ofUsers.failed(address, now);
      ofAddresses.failed(from, now);
      return Verdict.WRONG;
    }
    ofUsers.succeeded(address);
    putLast(remembered, fingerprint, now + REMEMBERED_MILLIS, MAX_REMEMBERED);
    putLast(homes, home(address, from), now + HOME_MILLIS, MAX_HOMES);
    return Verdict.WELCOME;
  }

  /** The first one goes if there is no room. */
  private static void putLast(Map<String, Long> map, String key, long value, int maxEntries) {
    map.remove(key);
    map.put(key, value);
    if (map.size() > maxEntries) {
      map.remove(map.keySet().iterator().next());
    }
  }

  private synchronized boolean isRemembered(String fingerprint) {
    Long until = remembered.get(fingerprint);
    return until != null && nowMillis.getAsLong() < until;
  }

  /** Changes with the stored hash, so a new password makes the old one forgotten at once. */
  private String fingerprint(String address, String password, String hash) {
    try {
      Mac mac = Mac.getInstance(key.getAlgorithm());
      mac.init(key);
      byte[] text = (address + "\0" + password + "\0" + hash).getBytes(StandardCharsets.UTF_8);
      return Base64.getEncoder().encodeToString(mac.doFinal(text));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Java has no " + key.getAlgorithm(), e);
    }
  }
}
