// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.List;

/**
 * What a node sends, as JSON with these names, without those that are null.
 *
 * @param type one of the constants below
 * @param id of the subscription
 * @param timestamps of commits that have changed what it reads, in their order
 * @param position all up to here is reported: where to resume
 * @param address of the node to move to, as host:port
 * @param code of an error that has ended the subscription
 * @param message says what happened, in a sentence
 * @param retryable whether another node, or this one later, may accept the same
 */
public record ServerMessage(
    String type,
    Integer id,
    List<Long> timestamps,
    Long position,
    String address,
    String code,
    String message,
    Boolean retryable) {
  public static final String CHANGES = "changes";
  public static final String POSITION = "position";
  public static final String LOST = "lost";
  public static final String MOVE = "move";
  public static final String ERROR = "error";

  public static ServerMessage changes(int id, List<Long> timestamps, long position) {
    return new ServerMessage(CHANGES, id, timestamps, position, null, null, null, null);
  }

  public static ServerMessage position(int id, long position) {
    return new ServerMessage(POSITION, id, null, position, null, null, null, null);
  }

  /** There may have been changes up to the position that nobody knows any more. */
  public static ServerMessage lost(int id, long position) {
    return new ServerMessage(LOST, id, null, position, null, null, null, null);
  }

  public static ServerMessage move(String address) {
    return new ServerMessage(MOVE, null, null, null, address, null, null, null);
  }

  public static ServerMessage error(Integer id, String code, String message, boolean retryable) {
    return new ServerMessage(ERROR, id, null, null, null, code, message, retryable);
  }
}
