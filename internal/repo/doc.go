// Package repo tests the repository itself: that imports go one way, that every
// package says what it is for, that files stay short, and that what the README
// shows is what happens.
package repo
