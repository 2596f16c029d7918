// SPDX-License-Identifier: Apache-2.0
/** POP3: the drop of a user, which one client at a time has. */
package io.isolde.mail.pop3;
